// What a run changed in a worktree of its own is decided on in its panel, and an iteration is restored there.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { expect, test } from "vitest";
import { asking } from "../editor/agent";
import { inEditor } from "../editor/inEditor";
import { openShown, runInTerminal } from "../editor/panel";

const editor = inEditor();

const git = (folder: string, ...words: string[]): string =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...words], { cwd: folder, encoding: "utf-8" });

test("an iteration is restored and applied from the panel", async () => {
  const files = asking("one", "two");
  const settings = JSON.parse(files[".loop-ls.yaml"] ?? "{}") as Record<string, unknown> & {
    providers: Record<string, { cli: string[] }>;
  };
  const agent = mkdtempSync(path.join(tmpdir(), "agent-"));
  const script = ["first", "second"].map((text) => ({ text, bash: `echo ${text} > poem.txt` }));
  writeFileSync(path.join(agent, "script.json"), JSON.stringify(script));
  settings.providers["claude-code"]?.cli.splice(2, 1, agent);
  const fixer = "name: Fixer\npersona: You write.\nloopEnabled: true\nloopCriteria: {type: max_iterations}\nmaxIterations: 2\n";
  const folder = editor.folder({
    "fixer.assistant.yaml": fixer,
    ".loop-ls.yaml": JSON.stringify({ ...settings, isolate: "worktree" }),
  });
  git(folder, "init", "-q");
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "-m", "begin");
  await runInTerminal(editor.server, folder, "fixer.assistant.yaml", "--input", "a poem");
  const window = await editor.show(folder, "fixer.assistant.yaml");
  const panel = await openShown(window);
  await panel.page.getByText(/1 file changed on branch loop-ls\//).waitFor();
  await window.picture("panel-changes");
  await panel.page.getByRole("treeitem").first().click();
  await panel.button("Restore").click();
  await window.message("The branch of the run is as it was after iteration 1.").waitFor();
  await panel.button("Apply").click();
  await window.message("are applied").waitFor();
  expect(readFileSync(path.join(folder, "poem.txt"), "utf-8")).toBe("first\n");
  await panel.button("Apply").waitFor({ state: "detached" });
});
