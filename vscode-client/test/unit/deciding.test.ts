// Messages to people: who is asked what, when a run's end is told, and what the language status says.
import { beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import type { RunState } from "../../src/runs/state";
import { RunStore } from "../../src/runs/store";
import { approvalsPart, sentenceOf } from "../../src/views/approvals";
import { endingsPart, isNews } from "../../src/views/endings";
import { inboxPart } from "../../src/views/inbox";
import { statusOf } from "../../src/views/lastRun";
import { rowsOfLoop } from "../../src/views/history";
import { sentenceOf as verdictOf } from "../../src/views/testing/mirror";

const URI = "file:///w/flow.yaml";
const asking: RunState = {
  runId: "a", name: "flow", target: { kind: "loop", name: "compose" }, uri: URI, origin: "editor", status: "waiting_approval",
  pendingApproval: { loopId: "compose", iteration: 2, output: "a\n draft", place: "compose/2", revise: true },
};
const ended: RunState = { runId: "a", name: "compose", uri: URI, origin: "editor", status: "completed", reason: "condition_met", iteration: 3 };

beforeEach(() => {
  vi.clearAllMocks();
  vi.mocked(vscode.window.showInformationMessage).mockResolvedValue(undefined);
  Object.assign(vscode.window, { activeTextEditor: undefined, state: { focused: true, active: true } });
});

function approvals() {
  const runs = new RunStore();
  const server = { status: "ready" as const, onDidChangeStatus: vi.fn(), run: vi.fn(async () => ({ ok: true })), ask: vi.fn() };
  approvalsPart({ runs, server } as never);
  return { runs, server };
}

test("a person is asked once, with the loop, the iteration and the output", () => {
  const { runs } = approvals();
  runs.take(asking);
  runs.take({ ...asking, lastSeq: 9 });
  expect(vscode.window.showInformationMessage).toHaveBeenCalledTimes(1);
  expect(vscode.window.showInformationMessage).toHaveBeenCalledWith(
    "compose waits for your decision on iteration 2: a draft", "Approve", "Reject", "Ask for changes", "Show output",
  );
});

test("the place inside a run is named where it is not the loop itself", () => {
  expect(sentenceOf(asking, { place: "outer/2/inner", iteration: 1 })).toBe("compose (outer › inner) waits for your decision on iteration 1: (no output)");
});

test.each([
  ["Approve", { approved: true }],
  ["Reject", { approved: false }],
])("%s reaches the run", async (choice, decision) => {
  vi.mocked(vscode.window.showInformationMessage).mockResolvedValueOnce(choice as never);
  const { runs, server } = approvals();
  runs.take(asking);
  await vi.waitUntil(() => server.run.mock.calls.length === 1);
  expect(server.run).toHaveBeenCalledWith("loopLs.approve", { runId: "a", loopId: "compose", ...decision });
});

test("protected files that an agent touched can be put back, and no check counts before", async () => {
  vi.mocked(vscode.window.showWarningMessage).mockResolvedValueOnce("Restore files" as never);
  const { runs, server } = approvals();
  const output = "The agent touched a protected file: package.json (changed).\n\n- package.json: changed";
  const protectedFiles = [{ path: "package.json", change: "changed" as const }];
  const asked = { loopId: "q", iteration: 2, output, place: "compose/2:protected-1-a.1", protected: protectedFiles };
  runs.take({ ...asking, pendingApproval: asked });
  await vi.waitUntil(() => server.run.mock.calls.length === 1);
  expect(server.run).toHaveBeenCalledWith("loopLs.approve", { runId: "a", loopId: "q", approved: false, decision: "restore" });
  expect(vscode.window.showWarningMessage).toHaveBeenCalledWith(
    "compose: The agent touched a protected file: package.json (changed). Checks do not count until you decide.",
    "Allow", "Restore files", "Stop the run", "Show output",
  );
});

test("where the project takes yes and no, nobody is offered more", async () => {
  const { runs, server } = approvals();
  const asked = { ...asking.pendingApproval, revise: undefined };
  runs.take({ ...asking, pendingApproval: asked });
  expect(vi.mocked(vscode.window.showInformationMessage).mock.calls[0]?.slice(1)).toEqual(["Approve", "Reject", "Show output"]);
  const commands = vi.mocked(vscode.commands.registerCommand).mock.calls;
  const feedback = commands.findLast(([name]) => name === "loopLs.client.feedback")?.[1];
  await feedback?.({ runId: "a" });
  expect(vscode.window.showInputBox).not.toHaveBeenCalled();
  expect(server.run).not.toHaveBeenCalled();
  expect(vi.mocked(vscode.window.showInformationMessage).mock.lastCall?.[0]).toContain("assistants: {revise: true}");
});

test("feedback is another try, and an empty one is none", async () => {
  vi.mocked(vscode.window.showInformationMessage).mockResolvedValueOnce("Ask for changes" as never);
  vi.mocked(vscode.window.showInputBox).mockResolvedValueOnce("shorter");
  const { runs, server } = approvals();
  runs.take(asking);
  await vi.waitUntil(() => server.run.mock.calls.length === 1);
  expect(server.run).toHaveBeenCalledWith("loopLs.approve", { runId: "a", loopId: "compose", approved: false, decision: "revise", feedback: "shorter" });
});

test("what somebody else has answered is not answered again", async () => {
  let choose: (choice: string) => void = () => undefined;
  vi.mocked(vscode.window.showInformationMessage).mockReturnValueOnce(new Promise((resolve) => (choose = resolve as never)) as never);
  const { runs, server } = approvals();
  runs.take(asking);
  runs.take({ ...asking, status: "running", pendingApproval: undefined, lastSeq: 5 });
  choose("Approve");
  await vi.waitUntil(() => vi.mocked(vscode.window.showInformationMessage).mock.calls.length === 2);
  expect(server.run).not.toHaveBeenCalled();
});

test("a window that nobody looks at asks nobody", () => {
  Object.assign(vscode.window, { state: { focused: false, active: true } });
  const { runs } = approvals();
  runs.take(asking);
  expect(vscode.window.showInformationMessage).not.toHaveBeenCalled();
});

test("a success whose file is in front is quiet; a limit and a failure are not", () => {
  expect(isNews(ended)).toBe(true);
  Object.assign(vscode.window, { activeTextEditor: { document: { uri: vscode.Uri.parse(URI) } } });
  expect(isNews(ended)).toBe(false);
  expect(isNews({ ...ended, reason: "max_iterations" })).toBe(true);
  expect(isNews({ ...ended, status: "failed", reason: "error" })).toBe(true);
});

test("who stopped a run is not told that it was stopped; a teardown is told", () => {
  expect(isNews({ ...ended, status: "cancelled", reason: "user" })).toBe(false);
  expect(isNews({ ...ended, status: "cancelled", reason: "teardown" })).toBe(true);
});

test("what somebody runs in a terminal is told there", () => {
  expect(isNews({ ...ended, origin: "cli" })).toBe(false);
});

test("an end is told once, and one from before the window not at all", () => {
  const runs = new RunStore();
  endingsPart({ runs } as never);
  runs.take(ended);
  runs.take({ ...ended, runId: "b", status: "running" });
  runs.take({ ...ended, runId: "b" });
  runs.take({ ...ended, runId: "b" });
  expect(vscode.window.showInformationMessage).toHaveBeenCalledTimes(1);
});

const NOW = Date.parse("2026-01-31T12:00:00Z");
const said = (sign: string, line: string) => ({ sign, line, spent: "" });

test("test_UP_74_the_last_run_of_a_file_is_told_in_the_words_of_the_lens", () => {
  const when = { endedAt: "2026-01-31T11:50:00Z" };
  expect(statusOf(undefined, NOW)).toMatchObject({ text: "never ran", severity: 0 });
  expect(statusOf({ ...ended, ...when, said: said("✓", "condition met in iteration 3") }, NOW)).toMatchObject({
    text: "✓ condition met in iteration 3 · 10 minutes ago", severity: 0, busy: false,
  });
  expect(statusOf({ ...ended, ...when, status: "failed", said: said("✗", "failed in iteration 2: no key") }, NOW)).toMatchObject({
    text: "✗ failed in iteration 2: no key · 10 minutes ago", severity: 2,
  });
  expect(statusOf({ ...ended, ...when, reason: "max_iterations", said: said("◼", "limit reached") }, NOW).severity).toBe(1);
  expect(statusOf({ ...ended, status: "running", said: said("", "Round 3 of 5 · $0.10 of $5.00") }, NOW)).toMatchObject({
    text: "Round 3 of 5 · $0.10 of $5.00", busy: true,
  });
});

test("of several tries the last one counts, and inner loops are not mixed in", () => {
  const row = (place: string, number: number, more = {}) => ({ place, iteration_number: number, ...more });
  const rows = rowsOfLoop([
    row("compose/1", 1, { output: "a" }), row("compose/1/inner/1", 1, { depth: 1 }),
    row("compose/2", 2, { output: "first try" }), row("compose/2", 2, { attempt: 2, output: "second try" }),
  ]);
  expect(rows.map((one) => one.output)).toEqual(["a", "second try"]);
  expect(rowsOfLoop([])).toEqual([]);
});

test("a verdict is said as the Problems view says it", () => {
  expect(verdictOf(1, "no", "FAIL: missing test")).toBe('iteration 1: NO - "FAIL: missing test"');
  expect(verdictOf(2, "yes", "")).toBe("iteration 2: YES");
});

const blocked: RunState = {
  ...asking,
  pendingApproval: { loopId: "q", iteration: 1, output: "`plan` cannot continue: Which port?\n\nSTATUS: BLOCKED\nWhich port?", blocked: true },
};

test.each([
  ["5433", { feedback: "5433" }],
  ["", {}],
])("a blocked stage tries again with what a person types: %s", async (typed, more) => {
  vi.mocked(vscode.window.showInformationMessage).mockResolvedValueOnce("Try again" as never);
  vi.mocked(vscode.window.showInputBox).mockResolvedValueOnce(typed);
  const { runs, server } = approvals();
  runs.take(blocked);
  await vi.waitUntil(() => server.run.mock.calls.length === 1);
  expect(vscode.window.showInformationMessage).toHaveBeenCalledWith(
    "compose is blocked: plan cannot continue: Which port?", "Try again", "End the run", "Show output",
  );
  expect(server.run).toHaveBeenCalledWith("loopLs.approve", { runId: "a", loopId: "q", approved: false, decision: "retry", ...more });
});

const PAUSED = {
  runId: "b", name: "flow", format: "workflow", kind: "pause", text: "`flow` is paused.", forPeople: false,
  answers: [{ answer: "resume", title: "Resume", text: true }, { answer: "stop", title: "Stop the run", text: false }],
};
const ASKS = { ...PAUSED, runId: "c", kind: "blocked", text: "`team` is blocked: Which port?", id: "q", context: "STATUS: BLOCKED",
  answers: [{ answer: "retry", title: "Try again", text: true }] };

async function inbox(waiting: unknown[]) {
  const run = vi.fn(async (_command: string, _argument: unknown) => ({ ok: true, waiting, position: 3 }));
  const made = inboxPart({ server: { run } } as never);
  const [, open] = vi.mocked(vscode.commands.registerCommand).mock.calls.find(([name]) => name === "loopLs.client.inbox") ?? [];
  await open?.();
  return { run, made };
}

test("the inbox says that nothing waits", async () => {
  await inbox([]);
  expect(vscode.window.showInformationMessage).toHaveBeenCalledWith("Nothing is waiting for you.");
});

test.each([
  [PAUSED, 1, undefined, { runId: "b", answer: "stop" }],
  [PAUSED, 0, "mind the tide", { runId: "b", answer: "resume", text: "mind the tide" }],
  [ASKS, 0, "5433", { runId: "c", answer: "retry", text: "5433", question: "q" }],
])("what waits is answered from the inbox", async (one, which, typed, sent) => {
  vi.mocked(vscode.window.showQuickPick).mockImplementationOnce(async (rows) => (await rows)[0] as never);
  vi.mocked(vscode.window.showQuickPick).mockImplementationOnce(async (rows) => (await rows)[which] as never);
  vi.mocked(vscode.window.showInputBox).mockResolvedValue(typed);
  const { run } = await inbox([one]);
  expect(run).toHaveBeenLastCalledWith("loopLs.answer", sent);
});

test("who puts the text aside has answered nothing", async () => {
  vi.mocked(vscode.window.showQuickPick).mockImplementation(async (rows) => (await rows)[0] as never);
  vi.mocked(vscode.window.showInputBox).mockResolvedValue(undefined);
  const { run } = await inbox([ASKS]);
  expect(run).toHaveBeenCalledTimes(1);
});
