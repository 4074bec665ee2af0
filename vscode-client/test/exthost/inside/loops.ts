// In a folder with loop files, with the editor's real API: what the extension registers, and what its commands answer.
import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import type { Answer } from "../../../src/answers/settle";
import type { Door } from "../../../src/extension";
import { runAll, type Test, until } from "./runner";

const folder = (): vscode.Uri => vscode.workspace.workspaceFolders?.[0]?.uri ?? assert.fail("no folder is open");
const haiku = (): vscode.Uri => vscode.Uri.joinPath(folder(), "haiku.yaml");
const command = (id: string, argument: object = {}) => vscode.commands.executeCommand<Answer>(id, argument);

function extension(): vscode.Extension<Door> {
  return vscode.extensions.getExtension<Door>("loop-ls.loop-ls") ?? assert.fail("the extension is not there");
}

async function place(text: string): Promise<vscode.Position> {
  const document = await vscode.workspace.openTextDocument(haiku());
  return document.positionAt(document.getText().indexOf(text) + text.length);
}

const finding = () => until("a finding", () => vscode.languages.getDiagnostics(haiku()).find((one) => one.source === "loop-ls"));

/** About 55 ms of the processor of a quiet machine: a rough measure, for a limit that only a fault passes. */
function squareRoots(): number {
  const began = process.cpuUsage();
  let sum = 0;
  for (let number = 0; number < 20_000_000; number++) sum += Math.sqrt(number);
  const { user, system } = process.cpuUsage(began);
  return sum > 0 ? (user + system) / 1000 : Number.NaN;
}

const TESTS: Test[] = [
  [
    "the first loop file wakes the extension",
    async () => {
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(haiku()));
      const door = await until("activation", () => extension().isActive && extension().exports);
      await until("the rest", () => door.awake);
      const loadedIn = await until("the rest is loaded", () => door.loadedIn);
      const libraryIn = await until("the library is loaded", () => door.libraryIn());
      const measure = squareRoots();
      console.log(
        `MEASURED the client was loaded in ${loadedIn.toFixed(1)} ms of the processor, its library, later, in ${libraryIn.toFixed(1)}; ` +
          `20 million square roots: ${measure.toFixed(1)} ms`,
      );
      assert.ok(loadedIn <= measure, `${loadedIn} ms of the processor, ${measure} ms for the measure`);
      assert.ok(libraryIn <= 4 * measure, `${libraryIn} ms of the processor for the library, ${measure} ms for the measure`);
    },
  ],
  [
    "findings arrive with their rule",
    async () => {
      const { code, severity } = await finding();
      assert.equal(typeof code === "object" ? code.value : code, "WF702");
      assert.equal(severity, vscode.DiagnosticSeverity.Warning);
    },
  ],
  [
    "a variable is completed where it exists",
    async () => {
      const list = await vscode.commands.executeCommand<vscode.CompletionList>("vscode.executeCompletionItemProvider", haiku(), await place("{{loop."));
      const labels = list.items.map((one) => (typeof one.label === "string" ? one.label : one.label.label));
      assert.ok(labels.includes("loop.last.output"), labels.join());
    },
  ],
  [
    "lenses offer the run, and their commands are there",
    async () => {
      const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>("vscode.executeCodeLensProvider", haiku(), 20);
      const run = lenses.find((lens) => lens.command?.title.includes("Run loop"));
      assert.equal(run?.command?.command, "loopLs.run");
      const known = new Set(await vscode.commands.getCommands(true));
      for (const lens of lenses) if (lens.command?.command) assert.ok(known.has(lens.command.command), lens.command.command);
    },
  ],
  [
    "every command of the manifest is registered",
    async () => {
      const known = new Set(await vscode.commands.getCommands(true));
      const manifest = extension().packageJSON as { contributes: { commands: { command: string }[] } };
      const missing = manifest.contributes.commands.map((one) => one.command).filter((id) => !known.has(id));
      assert.deepEqual(missing, []);
    },
  ],
  [
    "commands answer: an estimate, the definitions, a refusal",
    async () => {
      assert.equal((await command("loopLs.estimate", { uri: haiku().toString() })).ok, true);
      assert.equal((await command("loopLs.definitions")).ok, true);
      const refused = await command("loopLs.run", { uri: haiku().toString(), target: { kind: "loop", name: "nobody" }, input: "x" });
      assert.equal(refused.ok, false);
      assert.equal(typeof refused.message, "string");
    },
  ],
  [
    "a run is started, followed and ends",
    async () => {
      const started = await command("loopLs.run", { uri: haiku().toString(), target: { kind: "loop", name: "compose" }, input: "a frog" });
      assert.equal(started.ok, true, JSON.stringify(started));
      const ended = await until("the end of the run", async () => {
        const { state } = (await command("loopLs.status", { runId: started.runId })) as { state?: { status: string; reason?: string } };
        return state?.status === "completed" && state;
      });
      assert.equal(ended.reason, "condition_met");
    },
  ],
  [
    "the doctor tells what was found",
    async () => {
      const report = await vscode.commands.executeCommand<string>("loopLs.client.doctor");
      assert.match(report, /^# Loop: Doctor\n\n\*\*No problems found\.\*\*/);
      assert.match(report, /\| Status \| ready \|/);
      assert.match(report, /\| Active runs \| \d+ \|/);
      assert.doesNotMatch(report, /token/i);
    },
  ],
  [
    "a restart brings the findings back",
    async () => {
      await vscode.commands.executeCommand("loopLs.client.restart");
      await finding();
      assert.equal((await command("loopLs.definitions")).ok, true);
    },
  ],
];

export const run = (): Promise<void> => runAll(TESTS);
