// `Add Note...`: which run is meant, and what of it reaches the server.
import { beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import type { RunState } from "../../src/runs/state";
import { RunStore } from "../../src/runs/store";
import { controlPart } from "../../src/views/control";

const running: RunState = { runId: "a", name: "flow", status: "running", uri: "file:///w/flow.yaml" };

beforeEach(() => vi.clearAllMocks());

function add(typed: string | undefined, ...states: RunState[]) {
  vi.mocked(vscode.window.showInputBox).mockResolvedValueOnce(typed);
  const runs = new RunStore();
  const server = { status: "ready" as const, onDidChangeStatus: vi.fn(), run: vi.fn(async () => ({ ok: true })), ask: vi.fn() };
  controlPart({ runs, server } as never);
  for (const state of states) runs.take(state);
  const [, command] = vi.mocked(vscode.commands.registerCommand).mock.calls.find(([id]) => id === "loopLs.client.note") ?? [];
  return { server, done: command?.(undefined) as Promise<void> };
}

test("the only run that goes on is told what was typed", async () => {
  const { server, done } = add(" mind the tide ", running, { ...running, runId: "b", status: "completed" });
  await done;
  expect(server.run).toHaveBeenCalledWith("loopLs.note", { runId: "a", text: "mind the tide" });
});

test.each([undefined, "", "  "])("nothing is said where nothing was typed (%j)", async (typed) => {
  const { server, done } = add(typed, running);
  await done;
  expect(server.run).not.toHaveBeenCalled();
});

test("a run that has ended takes no note", async () => {
  const { server, done } = add("late", { ...running, status: "completed" });
  await done;
  expect(server.run).not.toHaveBeenCalled();
  expect(vscode.window.showInformationMessage).toHaveBeenCalledWith("No loop is running.");
});
