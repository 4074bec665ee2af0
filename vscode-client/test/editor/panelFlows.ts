// Loop files for windows that look at a run: long ones, hostile ones, ones that ask a person, and one that is mended
// in rounds. The scripted provider answers, so that every run is the same and none needs a key.

const SETTINGS = "providers:\n  scripted:\n    kind: scripted\n";

/** One loop of one step; its judge says YES in the last of `iterations`. */
export const counting = (iterations: number, options: { delay?: number; say?: string; most?: number } = {}): Record<string, string> => ({
  "count.yaml": `$schema: "workflow/v2.0"
name: count
version: 1.0.0

execution:
  provider: scripted
  model: counter

loops:
  - name: steps
    workflow: one_step
    with: {before: "{{loop.last.output}}"}
    max_iterations: ${options.most ?? iterations}
    until: "It is enough"
`,
  "one_step.yaml": `$schema: "workflow/v2.0"
name: one_step
version: 1.0.0

execution:
  provider: scripted
  model: counter

steps:
  - name: step
    run: "One more after {{before}}"
`,
  "count.answers.yaml": `delay: ${options.delay ?? 0}
price: {input: 3, output: 15}
answers:
  - when: {purpose: judge}
    say: [${Array.from({ length: iterations }, (_, index) => (index + 1 === iterations ? '"YES"' : '"NO"')).join(", ")}]
  - say: ${JSON.stringify(options.say ?? "One step further, and the path goes on between the stones.")}
`,
  ".loop-ls.yaml": SETTINGS,
});

/** The same loop, asked of a model behind an address. */
export const talking = (address: string): Record<string, string> => {
  const { "count.answers.yaml": _, ...files } = counting(1);
  const asked = Object.entries(files).map(([name, text]) => [name, text.replace("provider: scripted", "provider: talkative")]);
  return { ...Object.fromEntries(asked), ".loop-ls.yaml": `providers:\n  talkative:\n    kind: openai\n    baseUrl: ${address}\n` };
};

/** A workflow with a plan, a loop of two steps and a report: enough for a graph. */
export const pipeline = ({ delay = 0.1, pace = 0 }: { delay?: number; pace?: number } = {}): Record<string, string> => ({
  "iterative_developer.yaml": `$schema: "workflow/v2.0"
name: iterative_developer
version: 1.0.0

execution:
  provider: scripted
  model: coder

steps:
  - name: plan
    run: "Plan how to {{input}}"
  - name: examples
    run: "Give three examples of {{input}}"
  - name: report
    needs: [develop]
    run: "Tell in two sentences what came out of {{plan}}"

loops:
  - name: develop
    workflow: dev_cycle
    with:
      plan: "{{plan}}"
      examples: "{{examples}}"
      previous: "{{loop.last.output}}"
    max_iterations: 5
    until: "The review says PASS"
`,
  "dev_cycle.yaml": `$schema: "workflow/v2.0"
name: dev_cycle
version: 1.0.0

execution:
  provider: scripted
  model: coder

steps:
  - name: write
    run: "Write the function. Plan: {{plan}} Examples: {{examples}} Before: {{previous}}"
  - name: test
    needs: [write]
    run: "Which tests are missing? {{write}}"
  - name: review
    needs: [write, test]
    run: "PASS or FAIL: {{write}} {{test}}"
`,
  "iterative_developer.answers.yaml": `delay: ${delay}
${pace ? `pace: ${pace}` : ""}
price: {input: 300, output: 1500}
answers:
  - when: {step: plan}
    say: "1. Lower the case. 2. Replace what is no letter or digit by a dash. 3. Strip dashes at both ends."
  - when: {step: examples}
    say: "Hello World -> hello-world; Käse & Brot -> kase-brot; '' -> ''"
  - when: {step: write}
    say:
      - "def slugify(title):\\n    return title.lower().replace(' ', '-')\\n"
      - "def slugify(title):\\n    if not title:\\n        return ''\\n    return '-'.join(title.lower().split())\\n"
      - "def slugify(title: str) -> str:\\n    \\"\\"\\"A title as part of an address.\\"\\"\\"\\n    words = re.findall(r'[a-z0-9]+', unidecode(title).lower())\\n    return '-'.join(words)\\n"
  - when: {step: test}
    say: ["empty input, umlauts", "umlauts", "none"]
  - when: {step: review}
    say: ["FAIL: missing test for empty input", "FAIL: empty input handled, docs missing", "PASS: all tests covered and documented"]
  - when: {purpose: judge}
    say: ["NO", "NO", "YES"]
  - say: "A slug is made of the words of a title. Empty titles give an empty slug."
`,
  ".loop-ls.yaml": `${SETTINGS}limits:\n  budgetUsd: 5\n`,
});

const BROKEN = `# A report in three steps.
$schema: "workflow/v2.0"
name: report
version: 1.0.0
execution: {provider: scripted, model: writer}   # one model for all

steps:
  # the first words
  - name: draft
    run: "Write about the sea."

  - name: review   # refused without a tone
    needs: [draft]
    run: Review {{draft}}
    on_failure: halt

  # the last step
  - name: publish
    needs: [review]
    run: 'Publish {{review}}'
`;

/** A workflow and one that it calls; a plan mends both. */
export const mendedTogether = (): Record<string, string> => ({
  "report.yaml": `$schema: "workflow/v2.0"
name: report
version: 1.0.0
execution: {provider: scripted, model: writer}
steps:
  - name: draft
    template: {name: write, with: {input: "{{input}}"}}
  - name: publish
    run: "Publish {{draft}}"   # the last step
`,
  "write.yaml": `$schema: "workflow/v2.0"
name: write
version: 1.0.0
execution: {provider: scripted, model: writer}
steps:
  - name: words
    run: "Write about the sea"   # the first words
`,
  "report.answers.yaml": `answers:
  - when: {purpose: planner}
    say: |
      {"rationale": "Nobody said in what tone.",
       "ops": [{"op": "set_instructions", "file": "write.yaml", "target": "words", "run": "Write kindly about the sea", "reason": "a tone"},
               {"op": "set_instructions", "target": "publish", "run": "Publish all of {{draft}}", "reason": "all of it"}]}
  - when: {step: words, contains: kindly}
    say: Dear sea.
  - when: {step: words}
    say: {fail: bad_answer}
  - say: fine
`,
  ".loop-ls.yaml": `${SETTINGS}enhance:\n  files: [write.yaml]\n  workflows:\n    report:\n      enabled: true\n`,
});

/** A workflow that fails until a planner has mended it. */
export const mended = (options: { pause: boolean; delay?: number }): Record<string, string> => ({
  "report.yaml": BROKEN,
  "report.answers.yaml": `delay: ${options.delay ?? 0.1}
price: {input: 30, output: 150}
answers:
  - when: {purpose: planner}
    say: |
      {"rationale": "The review is refused because nobody said in what tone it is wanted.",
       "ops": [{"op": "set_instructions", "target": "review", "run": "Review {{draft}} kindly", "reason": "a tone"},
               {"op": "set_retries", "target": "publish", "max_retries": 2, "reason": "it is the last step"},
               {"op": "set_instructions", "target": "nowhere", "run": "Nothing", "reason": "there is no such step"}]}
  - when: {step: review, contains: kindly}
    say: A good review.
  - when: {step: review}
    say: {fail: bad_answer}
  - say: fine
`,
  ".loop-ls.yaml": `${SETTINGS}enhance:\n  pauseBetweenRounds: ${options.pause}\n  workflows:\n    report:\n      enabled: true\n`,
});
