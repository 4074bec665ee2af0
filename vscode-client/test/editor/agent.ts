// A program that speaks as an agent of the command line does and says what a test wrote down, in order: for
// loops that need an agent, such as those that wait for a person.
import { writeFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { serverProgram } from "./codeServer";

const FAKE = path.resolve(__dirname, "../../../tests/engine/runners/support/fake_claude.py");

/** Files of a folder with one assistant whose loop asks a person after each iteration, for changes too. */
export function asking(...outputs: string[]): Record<string, string> {
  const folder = mkdtempSync(path.join(tmpdir(), "agent-"));
  writeFileSync(path.join(folder, "script.json"), JSON.stringify(outputs.map((text) => ({ text }))));
  const cli = [path.join(path.dirname(serverProgram()), "python"), FAKE, folder];
  return {
    "fixer.assistant.yaml": `name: Fixer
persona: You repair.
loopEnabled: true
loopCriteria: {type: manual}
maxIterations: 5
`,
    ".loop-ls.yaml": JSON.stringify({
      providers: { "claude-code": { kind: "agent-cli", cli, speaks: "claude-code" } },
      assistants: { revise: true },
    }),
  };
}
