// What the stages of a role loop wrote down: a tree of it, its texts as documents, and links to them.
import { expect, test, vi } from "vitest";
import * as vscode from "vscode";
import type { RunState } from "../../../src/runs/state";
import { RunStore } from "../../../src/runs/store";
import { addressOf, artifactsPart, ArtifactsTree, groupsOf, linksIn, type Node } from "../../../src/views/artifacts";
import { contextOf } from "../../../src/views/tree/nodes";

const ID = "f8e1352701d7bdc5cdd624e623013f43";
const run = (runId: string, more: Partial<RunState> = {}): RunState => ({ runId, name: "build", format: "role_loop", status: "running", ...more });
const kept = { session_id: null, project_id: null, loop_id: "a", created_by: "coder", created_at: "2026-01-31T12:00:00Z" };
const written = {
  artifacts: [{ ...kept, id: ID, type: "note", title: "Plan/1", characters: 12, metadata: {} }],
  todos: [
    { ...kept, id: "t1", title: "Write the tests", status: "done", updated_at: null },
    { ...kept, id: "t2", title: "Write\nthe code", status: "open", updated_at: null },
  ],
  sprints: [],
  memories: [{ ...kept, id: "m1", text: "Tests need Node 24.", workspace: "/w" }],
};

test("what there is stands in groups, with what is left to do", () => {
  const groups = groupsOf("a", written);
  expect(groups.map((group) => [group.label, group.description])).toEqual([["Artifacts", "1"], ["Todos", "1 of 2 open"], ["Memories", "1"]]);
  expect(groups[1]?.items.map((item) => [item.label, item.icon])).toEqual([["Write the tests", "pass"], ["Write the code", "circle-large-outline"]]);
  expect(groups[0]?.items[0]?.description).toBe("note · 12 characters");
});

test("an artifact opens as a document", async () => {
  const [group] = groupsOf("a", written);
  const [artifact] = group?.items ?? [];
  const runs = new RunStore();
  const item = new ArtifactsTree({ ask: vi.fn() }, runs).getTreeItem(artifact as Node);
  expect(item.command?.command).toBe("vscode.open");
  expect(artifact?.opens?.path).toBe("/Plan_1.md");
  const ask = vi.fn(async () => ({ ok: true, content: "1. Think." }));
  artifactsPart({ runs, server: { ask, run: vi.fn(), status: "ready", onDidChangeStatus: vi.fn() } } as never);
  const [, provider] = vi.mocked(vscode.workspace.registerTextDocumentContentProvider).mock.lastCall ?? [];
  expect(await provider?.provideTextDocumentContent(artifact?.opens as vscode.Uri, {} as never)).toBe("1. Think.");
  expect(ask).toHaveBeenCalledWith("loopLs.artifact", { runId: "a", artifact: ID });
});

test("the newest role loop is shown until somebody chooses another", async () => {
  const runs = new RunStore();
  const ask = vi.fn(async (_command: string, _argument: object) => ({ ok: true, ...written }));
  const tree = new ArtifactsTree({ ask } as never, runs);
  expect(await tree.getChildren()).toEqual([]);
  runs.take(run("a", { startedAt: "2026-01-31T12:00:00Z" }));
  runs.take(run("b", { startedAt: "2026-01-31T12:01:00Z" }));
  runs.take(run("c", { format: "workflow", startedAt: "2026-01-31T12:02:00Z" }));
  expect(await tree.getChildren()).toHaveLength(3);
  tree.follow("a");
  await tree.getChildren();
  expect(ask.mock.calls.map(([, argument]) => argument)).toEqual([{ runId: "b" }, { runId: "a" }]);
});

test("an engine that does not answer leaves the tree empty", async () => {
  const runs = new RunStore();
  runs.take(run("a"));
  expect(await new ArtifactsTree({ ask: vi.fn(async () => undefined) }, runs).getChildren()).toEqual([]);
});

test("ids in the texts of a run are links to its artifacts", () => {
  const text = `See artifact ${ID}.`;
  const document = { uri: addressOf("a", "x", "y"), getText: () => text, positionAt: (at: number) => new vscode.Position(0, at) };
  const [link] = linksIn(document as never);
  expect(link?.range.start.character).toBe(13);
  expect(JSON.parse(link?.target?.query ?? "{}")).toEqual({ runId: "a", artifact: ID });
});

test("menus are told which runs have stages", () => {
  expect(contextOf(run("a"))).toBe("run pause stop stages");
});
