// The setup of enhance loops: six fields with their defaults, and the server's advice on when it is worth it.
import type { Field, Form, Values } from "./form";

const usual = (value: unknown): string => `Default: ${value === true ? "on" : value === false ? "off" : String(value)}.`;

export function enhanceForm(where: string, values: Values, defaults: Values, advice: string): Form {
  const told = (name: string, sentence: string): string => `${sentence} ${usual(defaults[name])}`;
  const fields: Field[] = [
    { kind: "number", name: "maxRounds", label: "Max Rounds", minimum: 1, maximum: 20, step: 1, help: told("maxRounds", "Maximum rounds per loop.") },
    {
      kind: "number",
      name: "budgetCapUsd",
      label: "Budget Cap (USD)",
      minimum: 0.01,
      maximum: 1000,
      step: 0.01,
      help: told("budgetCapUsd", "Total for all rounds, including the planner."),
    },
    {
      kind: "select",
      name: "convergenceMode",
      label: "Convergence Mode",
      options: [
        { value: "strict", label: "strict: no step fails" },
        { value: "lenient", label: "lenient: skips and fallbacks are allowed" },
      ],
      help: usual(defaults.convergenceMode),
    },
    { kind: "switch", name: "pauseBetweenRounds", label: "Pause Between Rounds", help: told("pauseBetweenRounds", "You review the changes before the next round runs.") },
    { kind: "text", name: "plannerProvider", label: "Planner Provider", placeholder: "inherit", help: told("plannerProvider", "Provider that proposes the changes; inherit uses the project's `assist`.") },
    { kind: "text", name: "plannerModel", label: "Planner Model", placeholder: "inherit", help: usual(defaults.plannerModel) },
  ];
  return {
    title: "Enhance Loops",
    about: where,
    description: "An enhanced workflow runs in rounds; failures are fixed between them. These settings apply to all workflows of the folder.",
    values,
    fields,
    advice,
  };
}
