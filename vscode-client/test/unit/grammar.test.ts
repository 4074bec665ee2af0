// The grammar that colours {{ }}, run as the editor runs it: injected into the YAML and JSON grammars that
// VS Code ships, on lines as people write them.
import { existsSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { beforeAll, expect, test } from "vitest";
import * as oniguruma from "vscode-oniguruma";
import { INITIAL, parseRawGrammar, Registry, type IGrammar } from "vscode-textmate";

const OURS = "loop.variables.injection";
const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const contribution = manifest.contributes.grammars[0];

/** The grammars of the editor that tests drive; .ci/setup-editors installs it. */
const program = process.env.LOOP_LS_CODE_SERVER ?? "";
const extensions = path.resolve(program, "../../../lib/vscode/extensions");
const able = existsSync(extensions);

const FILES: Record<string, string> = {
  [OURS]: contribution.path,
  "source.json": path.join(extensions, "json/syntaxes/JSON.tmLanguage.json"),
  "source.yaml": path.join(extensions, "yaml/syntaxes/yaml.tmLanguage.json"),
};
const fileOf = (scope: string): string =>
  FILES[scope] ?? path.join(extensions, `yaml/syntaxes/${scope.replace("source.yaml.", "yaml-")}.tmLanguage.json`);

const grammars: Record<string, IGrammar> = {};
beforeAll(async () => {
  if (!able) return;
  const wasm = readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength) as ArrayBuffer);
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (scope) => parseRawGrammar(readFileSync(fileOf(scope), "utf8"), fileOf(scope)),
    getInjections: (scope) => (contribution.injectTo.includes(scope) ? [OURS] : undefined),
  });
  for (const scope of ["source.yaml", "source.json"]) {
    const grammar = await registry.loadGrammar(scope);
    if (grammar) grammars[scope] = grammar;
  }
});

/** What is coloured as ours in a text: `{{`, a name with its kind, `}}`, as `loop loop.iteration`. */
function coloured(scope: string, text: string): string[] {
  let state = INITIAL;
  const found: string[] = [];
  for (const line of text.split("\n")) {
    const { tokens, ruleStack } = grammars[scope]!.tokenizeLine(line, state);
    state = ruleStack;
    for (const { startIndex, endIndex, scopes } of tokens) {
      const own = scopes.find((each) => each.endsWith(".loop-ls") && each.startsWith("variable."));
      if (own) found.push(`${own.split(".").at(-2)} ${line.slice(startIndex, endIndex)}`);
    }
  }
  return found;
}

const yaml = (text: string) => coloured("source.yaml", text);

test.runIf(able).each([
  ["a quoted text", 'with: "{{loop.last.output}}"', ["loop loop.last.output"]],
  ["single quotes", "with: '{{ draft }}'", ["readwrite draft"]],
  ["a plain text", "run: Write about {{input}} in {{env.TONE}}.", ["readwrite input", "env env.TONE"]],
  ["a block text", "run: |\n  Requirements: {{requirements}}\n\n  Round {{loop.iteration}}", ["readwrite requirements", "loop loop.iteration"]],
  ["a folded text", "run: >-\n  {{step.a-b}} and {{loop.stats.failed}}", ["readwrite step.a-b", "loop loop.stats.failed"]],
  ["a step in a list", 'steps:\n  - name: a\n    run: "{{a}}{{b}}"', ["readwrite a", "readwrite b"]],
  ["a flow mapping", 'with: {task: "{{input}}", "n": "{{ loop.iteration }}"}', ["readwrite input", "loop loop.iteration"]],
  ["letters of any script", 'run: "{{überblick}}"', ["readwrite überblick"]],
  ["a backslash, which escapes nothing", "run: \\{{input}}", ["readwrite input"]],
  ["two texts over two lines", 'run: "one {{a}}\n  two {{b}}"', ["readwrite a", "readwrite b"]],
])("in YAML: %s", (_, text, wanted) => expect(yaml(text)).toEqual(wanted));

test.runIf(able).each([
  ["a comment", "# {{input}}"],
  ["a comment behind a value", "name: a # {{input}}"],
  ["an expression of another language", 'run: "${{ github.ref }} {{ x | upper }} {{ .Values.a }} {{ a b }} {{a == b}}"'],
  ["three braces", 'run: "{{{input}}}"'],
  ["JSON in a text", 'run: \'{{"a": 1}} {{}} {{ }}\''],
  ["a variable of loops that does not exist", 'run: "{{loop.total}} {{env.a.b}}"'],
  ["a flow mapping that only looks like one", "a: {{input}}"],
])("left alone in YAML: %s", (_, text) => expect(yaml(text)).toEqual([]));

test.runIf(able)("in JSON: texts, and no keys", () => {
  const text = '{"prompt": "Review with a view to {{focus}}: {{ goal }}", "{{key}}": 1}';
  expect(coloured("source.json", text)).toEqual(["readwrite focus", "readwrite goal"]);
});

test.runIf(able)("the rest of the text keeps its own colour", () => {
  const { tokens } = grammars["source.yaml"]!.tokenizeLine('a: "before {{x}} after"', INITIAL);
  const plain = tokens.filter(({ scopes }) => scopes.at(-1)?.startsWith("string.quoted.double"));
  expect(plain.length).toBeGreaterThanOrEqual(2);
});
