// Loop files for windows: the scripted provider answers from a file beside the workflow, so that
// every run is the same and none needs a key.

const WORKFLOW = `$schema: "workflow/v2.0"
name: haiku
version: 1.0.0
description: Write a poem until the critic has nothing left to say.

execution:
  provider: scripted
  model: poet

loops:
  - name: compose
    workflow: one_draft
    with:
      subject: "{{input}}"
      before: "{{loop.last.output}}"
    max_iterations: 5
    until: "The critic says ACCEPTED"
    on_failure: halt
`;

const CALLEE = `$schema: "workflow/v2.0"
name: one_draft
version: 1.0.0
description: A draft and what the critic says of it.

execution:
  provider: scripted
  model: poet

steps:
  - name: draft
    run: "Write a haiku about {{subject}}. Before: {{before}}"

  - name: critic
    needs: [draft]
    run: "Say ACCEPTED, or what is wrong: {{draft}}"
`;

/** `delay`: seconds that each answer takes. */
export const poems = (delay = 0.1): Record<string, string> => ({
  "haiku.yaml": WORKFLOW,
  "one_draft.yaml": CALLEE,
  "haiku.answers.yaml": `delay: ${delay}
price: {input: 3, output: 15}
answers:
  - when: {step: critic}
    say: ["REFUSED: no season in it", "REFUSED: eight syllables in line two", "ACCEPTED: nothing to add"]
  - when: {purpose: judge}
    say: ["NO", "NO", "YES"]
  - say: "old pond\\na frog leaps in\\nwater's sound"
`,
  ".loop-ls.yaml": "providers:\n  scripted:\n    kind: scripted\n",
});

/** The same loop with a critic who is never content, and fifty iterations. */
export const endless = (delay = 1): Record<string, string> => {
  const files = poems(delay);
  return {
    ...files,
    "haiku.yaml": WORKFLOW.replace("max_iterations: 5", "max_iterations: 50"),
    "haiku.answers.yaml": (files["haiku.answers.yaml"] ?? "")
      .replace(/say: \["REFUSED.*\]/, 'say: ["REFUSED: no season in it"]')
      .replace('say: ["NO", "NO", "YES"]', 'say: ["NO"]'),
  };
};
