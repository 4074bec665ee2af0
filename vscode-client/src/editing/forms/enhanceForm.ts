// The setup of enhance loops: six fields with their defaults, and the server's advice on when it is worth it.
import type { Field, Form, Values } from "./form";

const usual = (value: unknown): string => `Default: ${value === true ? "on" : value === false ? "off" : String(value)}.`;

export function enhanceForm(where: string, values: Values, defaults: Values, advice: string): Form {
  const told = (name: string, sentence: string): string => `${sentence} ${usual(defaults[name])}`;
  const fields: Field[] = [
    { kind: "number", name: "maxRounds", label: "Max Rounds", minimum: 1, maximum: 20, step: 1, help: told("maxRounds", "No loop has more rounds than this.") },
    {
      kind: "number",
      name: "budgetCapUsd",
      label: "Budget Cap (USD)",
      minimum: 0.01,
      maximum: 1000,
      step: 0.01,
      help: told("budgetCapUsd", "For all rounds together, what the planner costs included."),
    },
    {
      kind: "select",
      name: "convergenceMode",
      label: "Convergence Mode",
      options: [
        { value: "strict", label: "strict: nothing fails any more" },
        { value: "lenient", label: "lenient: skips and fallbacks are fine" },
      ],
      help: usual(defaults.convergenceMode),
    },
    { kind: "switch", name: "pauseBetweenRounds", label: "Pause Between Rounds", help: told("pauseBetweenRounds", "You look at the changes before the next round runs.") },
    { kind: "text", name: "plannerProvider", label: "Planner Provider", placeholder: "inherit", help: told("plannerProvider", "Who proposes the changes; inherit takes the project's `assist`.") },
    { kind: "text", name: "plannerModel", label: "Planner Model", placeholder: "inherit", help: usual(defaults.plannerModel) },
  ];
  return {
    title: "Enhance Loops",
    about: where,
    description: "A workflow that is enhanced runs in rounds; what failed is mended between them. This setup is for all workflows of the folder.",
    values,
    fields,
    advice,
  };
}
