// Running the file that is looked at, and the question before runs of the Testing view that call models.
import { beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import { canRun, runFilePart } from "../../src/editing/runFile";
import { bound, mayRun } from "../../src/views/testing/asking";

const WORKFLOW = '$schema: "workflow/v2.0"\nname: flow\n';
const estimate = (calls: number | null, usd: number | null) => ({
  ok: true as const, calls: { min: 1, max: calls }, usd: usd === null ? null : { min: 0, max: usd }, why: "",
});

function opened(path: string, text: string, languageId = "yaml") {
  const lines = text.split("\n");
  return {
    uri: vscode.Uri.file(path), languageId, lineCount: lines.length, save: vi.fn(async () => true),
    lineAt: (line: number) => ({ text: lines[line] ?? "" }),
  } as unknown as vscode.TextDocument & { save: ReturnType<typeof vi.fn> };
}

beforeEach(() => vi.clearAllMocks());

test("what a run can start with is known by its name or its first lines", () => {
  expect(canRun(opened("/w/flow.yaml", WORKFLOW))).toBe(true);
  expect(canRun(opened("/w/loops/pair.json", "{}", "json"))).toBe(true);
  expect(canRun(opened("/w/fixer.assistant.yaml", "name: Fixer"))).toBe(true);
  expect(canRun(opened("/w/.loop-ls.yaml", "limits: {}"))).toBe(false);
  expect(canRun(opened("/w/compose.yaml", "services: {}"))).toBe(false);
  expect(canRun(undefined)).toBe(false);
});

test("the open file is saved and run, with a model or without one", async () => {
  const document = opened("/w/flow.yaml", WORKFLOW);
  Object.assign(vscode.window, { activeTextEditor: { document } });
  const commands = new Map<string, () => Promise<unknown>>();
  vi.mocked(vscode.commands.registerCommand).mockImplementation((name, call) => {
    commands.set(name, call as () => Promise<unknown>);
    return { dispose: () => undefined };
  });
  const run = vi.fn(async () => ({ ok: true }));
  runFilePart({ server: { run } } as never);
  expect(vscode.commands.executeCommand).toHaveBeenCalledWith("setContext", "loopLs.canRun", true);
  await commands.get("loopLs.client.run")?.();
  await commands.get("loopLs.client.tryRun")?.();
  expect(run.mock.calls).toEqual([
    ["loopLs.run", { uri: "file:///w/flow.yaml" }],
    ["loopLs.run", { uri: "file:///w/flow.yaml", mock: true }],
  ]);
  expect(document.save).toHaveBeenCalledTimes(2);
  Object.assign(vscode.window, { activeTextEditor: undefined });
  await commands.get("loopLs.client.run")?.();
  expect(run).toHaveBeenCalledTimes(2);
});

test("the most that runs cost is summed up, and what is not known is said", () => {
  expect(bound([estimate(20, 0.25), estimate(4, 0.05)])).toBe("At most 24 calls and $0.30.");
  expect(bound([estimate(3, null)])).toBe("At most 3 calls. The cost of it is not known.");
  expect(bound([estimate(20, 0.25), estimate(4, null)])).toBe(
    "At most 24 calls, $0.25 for those with a known price. The cost of 1 of them is not known.",
  );
  expect(bound([estimate(20, 0.25), undefined])).toBe("At most $0.25 for those with a known price. The cost of 1 of them is not known.");
  expect(bound([undefined])).toBe("The cost of it is not known.");
  expect(bound([estimate(null, 0.25)])).toBe("At most $0.25.");
});

test("runs with models are asked about once for all, and not started without a yes", async () => {
  const ask = vi.fn(async () => estimate(3, 0.01));
  const target = { uri: vscode.Uri.file("/w/flow.yaml"), kind: "loop", name: "compose", judged: undefined as never };
  vi.mocked(vscode.window.showWarningMessage).mockResolvedValueOnce(undefined).mockResolvedValueOnce("Run" as never);
  expect(await mayRun({ ask } as never, [target, target])).toBe(false);
  expect(await mayRun({ ask } as never, [target])).toBe(true);
  expect(vi.mocked(vscode.window.showWarningMessage).mock.calls[0]).toEqual([
    "Run 2 loops with models?", { modal: true, detail: "At most 6 calls and $0.02." }, "Run",
  ]);
  expect(ask).toHaveBeenCalledWith("loopLs.estimate", { uri: "file:///w/flow.yaml", target: { kind: "loop", name: "compose" } });
});
