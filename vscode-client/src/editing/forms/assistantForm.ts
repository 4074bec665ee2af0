// The fields of an assistant's loop, in the words and order that people know them by. The values and what is
// wrong with them come from the server.
import type { Form, Values } from "./form";

const ON = { loopEnabled: [true] };

const CRITERIA = [
  { value: "regex", label: "Regex match" },
  { value: "test_pass", label: "Test passes" },
  { value: "manual", label: "Manual review" },
  { value: "max_iterations", label: "Max iterations only" },
];

export const assistantForm = (name: string, file: string, values: Values): Form => ({
  title: "Loop of an Assistant",
  about: `${name} · ${file}`,
  description: "A looping assistant runs again, each time fresh, until its criterion is met or its iterations are used up.",
  values,
  fields: [
    { kind: "switch", name: "loopEnabled", label: "Autonomous Loop", help: "Turning this off removes the stop criterion but keeps the iteration limit." },
    { kind: "select", name: "type", label: "Stop Criterion", options: CRITERIA, shown: ON },
    {
      kind: "text",
      name: "pattern",
      label: "Pattern",
      code: true,
      placeholder: "DONE|COMPLETE|SUCCESS",
      help: "A regular expression, matched anywhere in the output, ignoring case.",
      shown: { ...ON, type: ["regex"] },
    },
    {
      kind: "text",
      name: "command",
      label: "Command",
      code: true,
      placeholder: "npm test",
      help: "Split at spaces and run without a shell. The loop ends when it exits with 0.",
      shown: { ...ON, type: ["test_pass"] },
    },
    {
      kind: "slider",
      name: "maxIterations",
      label: "Max Iterations",
      minimum: 1,
      maximum: 100,
      help: "The loop ends after at most {value} iterations.",
      shown: ON,
    },
  ],
  warning: { text: "Every iteration is a full run of the assistant and uses tokens again. A low limit and a budget keep a loop affordable.", shown: ON },
});
