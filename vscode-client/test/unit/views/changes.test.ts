// The changes of a run in a worktree of its own: asked about at its end, and decided once.
import { beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import type { RunState } from "../../../src/runs/state";
import { RunStore } from "../../../src/runs/store";
import { changesPart } from "../../../src/views/changes";
import { endingsPart } from "../../../src/views/endings";

const worktree = { branch: "loop-ls/flow-a", folder: "/d/a", base: "1", commit: "2" };
const running: RunState = { runId: "a", name: "flow", status: "running", uri: "file:///w/flow.yaml", worktree };
const ended: RunState = { ...running, status: "completed", worktree: { ...worktree, changed: 2 } };

beforeEach(() => vi.clearAllMocks());

function parts(answer: object = { ok: true, decision: "applied" }) {
  const runs = new RunStore();
  const server = { status: "ready" as const, onDidChangeStatus: vi.fn(), run: vi.fn(async () => answer), ask: vi.fn() };
  endingsPart({ runs, server } as never);
  changesPart({ runs, server } as never);
  return { runs, server };
}

async function end(choice: string | undefined, state: RunState = ended, sure?: string) {
  vi.clearAllMocks();
  vi.mocked(vscode.window.showInformationMessage).mockResolvedValueOnce(choice as never);
  if (choice === "Discard") vi.mocked(vscode.window.showWarningMessage).mockResolvedValueOnce(sure as never);
  const { runs, server } = parts();
  runs.take(running);
  runs.take(state);
  await vi.waitFor(() => expect(vscode.window.showInformationMessage).toHaveBeenCalled());
  await new Promise((done) => setTimeout(done, 20));
  return server;
}

test.each([
  ["Apply", "apply"],
  ["Keep Branch", "keep"],
])("%s decides", async (choice, decision) => {
  const server = await end(choice);
  expect(vi.mocked(vscode.window.showInformationMessage).mock.calls[0]).toEqual([
    expect.stringContaining("2 files changed on branch loop-ls/flow-a"),
    "Apply",
    "Keep Branch",
    "Discard",
    "Show Changes",
  ]);
  expect(server.run).toHaveBeenCalledWith("loopLs.decideChanges", { runId: "a", decision });
});

test("what is discarded is asked about once more", async () => {
  const kept = await end("Discard");
  expect(kept.run).not.toHaveBeenCalled();
  const gone = await end("Discard", ended, "Discard");
  expect(gone.run).toHaveBeenCalledWith("loopLs.decideChanges", { runId: "a", decision: "discard" });
});

test("nothing is decided where nobody chose", async () => {
  const server = await end(undefined);
  expect(server.run).not.toHaveBeenCalled();
});

test("the panel's buttons decide, and restore an iteration", async () => {
  const { runs, server } = parts();
  runs.take(ended);
  const commands = new Map(vi.mocked(vscode.commands.registerCommand).mock.calls.map(([name, act]) => [name, act]));
  await commands.get("loopLs.client.decideChanges")?.({ runId: "a", decision: "apply" });
  expect(server.run).toHaveBeenLastCalledWith("loopLs.decideChanges", { runId: "a", decision: "apply" });
  await commands.get("loopLs.client.restore")?.({ runId: "a", iteration: 2, loop: "compose" });
  expect(server.run).toHaveBeenLastCalledWith("loopLs.restore", { runId: "a", iteration: 2, loop: "compose" });
});

test("an iteration to restore is asked for where none was named", async () => {
  const { runs, server } = parts();
  runs.take({ ...ended, iteration: 3 });
  const commands = new Map(vi.mocked(vscode.commands.registerCommand).mock.calls.map(([name, act]) => [name, act]));
  vi.mocked(vscode.window.showInputBox).mockResolvedValueOnce("2");
  await commands.get("loopLs.client.restore")?.();
  expect(server.run).toHaveBeenLastCalledWith("loopLs.restore", { runId: "a", iteration: 2 });
  const [options] = vi.mocked(vscode.window.showInputBox).mock.lastCall ?? [];
  expect(["0", "4", "x", "3"].map((text) => options?.validateInput?.(text) === undefined)).toEqual([false, false, false, true]);
});
