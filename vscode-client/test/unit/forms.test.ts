// What the forms show, whom they ask, and what they save; the page itself is tried in a real window.
import { beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import { assistantForm } from "../../src/editing/forms/assistantForm";
import { enhanceForm } from "../../src/editing/forms/enhanceForm";
import { changed, type Form, type FromPage, isShown, type ToPage, type Values } from "../../src/editing/forms/form";
import { inputForm } from "../../src/editing/forms/inputForm";
import { lenses } from "../../src/editing/forms/lens";
import { formsPart } from "../../src/editing/forms/part";

const LOOP: Values = { loopEnabled: true, type: "regex", pattern: "DONE", command: "", maxIterations: 10 };
const visible = (form: Form, values: Values): string[] => form.fields.filter((field) => isShown(field.shown, values)).map(({ label }) => label);

test.each([
  [{ ...LOOP, loopEnabled: false }, ["Autonomous Loop"]],
  [LOOP, ["Autonomous Loop", "Stop Criterion", "Pattern", "Max Iterations"]],
  [{ ...LOOP, type: "test_pass" }, ["Autonomous Loop", "Stop Criterion", "Command", "Max Iterations"]],
  [{ ...LOOP, type: "manual" }, ["Autonomous Loop", "Stop Criterion", "Max Iterations"]],
  [{ ...LOOP, type: "max_iterations" }, ["Autonomous Loop", "Stop Criterion", "Max Iterations"]],
])("test_AB_145_the_value_field_is_shown_for_the_first_two_criteria_only %#", (values, labels) => {
  expect(visible(assistantForm("Fixer", "fixer.assistant.yaml", LOOP), values)).toEqual(labels);
});

test("the criteria have the order and the limits that people know", () => {
  const { fields, warning } = assistantForm("Fixer", "f", LOOP);
  const criterion = fields.find((field) => field.kind === "select");
  expect(criterion?.kind === "select" && criterion.options.map(({ label }) => label)).toEqual([
    "Regex match", "Test passes", "Manual review", "Max iterations only",
  ]);
  expect(fields.find((field) => field.kind === "slider")).toMatchObject({ minimum: 1, maximum: 100, help: expect.stringContaining("{value}") });
  expect(warning?.text).toMatch(/tokens/);
});

test("the setup has the six fields with their defaults, and the advice", () => {
  const values = { maxRounds: 3, budgetCapUsd: 5, convergenceMode: "strict", pauseBetweenRounds: false, plannerProvider: "inherit", plannerModel: "inherit" };
  const form = enhanceForm("w", values, values, "Use it for a workflow that mostly works.");
  expect(form.fields.map(({ name }) => name)).toEqual(Object.keys(values));
  expect(form.fields.map(({ help }) => help?.split(" ").slice(-2).join(" "))).toEqual([
    "Default: 3.", "Default: 5.", "Default: strict.", "Default: off.", "Default: inherit.", "Default: inherit.",
  ]);
  expect(form.advice).toContain("mostly works");
});

test("only what differs is saved", () => {
  expect(changed({ ...LOOP, maxIterations: 20 }, LOOP)).toEqual({ maxIterations: 20 });
});

test("the form of a start runs, has a list for choices, and hides what is secret", () => {
  const inputs = [
    { name: "input", help: "", last: "a frog", secret: false, long: true },
    { name: "size", help: "How large", last: "gone", choices: ["small", "large"], secret: false, long: false },
    { name: "token", help: "", last: "", secret: true, long: true },
  ];
  const form = inputForm({ key: "k", title: "Run develop", about: "a.yaml", inputs });
  expect(form.submit).toBe("Run");
  expect(form.values).toEqual({ input: "a frog", size: "small", token: "" });
  expect(form.fields.map((field) => [field.kind, "lines" in field && field.lines, "secret" in field && field.secret])).toEqual([
    ["text", true, false], ["select", false, false], ["text", false, true],
  ]);
  expect(form.description).toContain("except secrets");
});

// -- opening and saving --------------------------------------------------------------------------

const commands = new Map<string, (argument?: unknown) => Promise<void>>();
const posted: ToPage[] = [];
let say: (message: FromPage) => Promise<void>;
const document = { isDirty: false, save: vi.fn() };
const ask = vi.fn();

beforeEach(() => {
  vi.clearAllMocks();
  posted.length = 0;
  vi.mocked(vscode.commands.registerCommand).mockImplementation(((id: string, run: never) => (commands.set(id, run), { dispose() {} })) as never);
  Object.assign(vscode.workspace, { openTextDocument: vi.fn(async () => document), getWorkspaceFolder: () => undefined });
  Object.defineProperty(vscode.workspace, "workspaceFolders", { value: [{ uri: vscode.Uri.file("/w"), name: "w" }], configurable: true });
  Object.assign(vscode.window, { activeTextEditor: undefined });
  vi.mocked(vscode.window).createWebviewPanel.mockImplementation(() => {
    const webview = {
      cspSource: "https://own",
      html: "",
      asWebviewUri: (uri: vscode.Uri) => uri,
      postMessage: async (message: ToPage) => posted.push(message),
      onDidReceiveMessage: (heard: typeof say) => (say = heard),
    };
    return { webview, onDidDispose() {}, reveal() {}, title: "" } as never;
  });
  formsPart({ context: { extensionUri: vscode.Uri.file("/x") }, server: { ask } } as never);
});

const answer = (more: object) => ({ ok: true, key: "fixer", name: "Fixer", assistants: [{ key: "fixer" }], values: LOOP, problems: [], changed: false, ...more });

test("saving sends what changed and saves a file that had nothing unsaved", async () => {
  ask.mockResolvedValueOnce(answer({})).mockResolvedValueOnce(answer({ changed: true, values: { ...LOOP, maxIterations: 20 } }));
  await commands.get("loopLs.client.assistantForm")?.({ uri: "file:///w/a.assistant.yaml", name: "fixer" });
  await say({ kind: "ready" });
  expect(posted[0]).toMatchObject({ kind: "form", form: { about: "Fixer · a.assistant.yaml", values: LOOP } });
  await say({ kind: "save", values: { maxIterations: 20 } });
  expect(ask.mock.calls[1]).toEqual(["loopLs.assistant.setup", { uri: "file:///w/a.assistant.yaml", name: "fixer", values: { maxIterations: 20 } }]);
  expect(posted[1]).toMatchObject({ kind: "saved", saved: { told: "Saved.", values: { maxIterations: 20 } } });
  expect(document.save).toHaveBeenCalledOnce();
});

test("a file with unsaved changes is left unsaved, and a problem is not saved at all", async () => {
  document.isDirty = true;
  ask.mockResolvedValueOnce(answer({})).mockResolvedValueOnce(answer({ changed: true })).mockResolvedValueOnce(answer({ problems: [{ name: "pattern", message: "no" }] }));
  await commands.get("loopLs.client.assistantForm")?.({ uri: "file:///w/b.assistant.yaml", name: "fixer" });
  await say({ kind: "save", values: { maxIterations: 20 } });
  await say({ kind: "save", values: { pattern: "(" } });
  expect(document.save).not.toHaveBeenCalled();
  expect(posted.at(-1)).toMatchObject({ saved: { told: "Not saved: see above.", problems: [{ name: "pattern" }] } });
  document.isDirty = false;
});

test("the page runs nothing but its own script", async () => {
  ask.mockResolvedValueOnce(answer({}));
  await commands.get("loopLs.client.assistantForm")?.({ uri: "file:///w/c.assistant.yaml", name: "fixer" });
  const panel = vi.mocked(vscode.window).createWebviewPanel.mock.results[0]?.value as vscode.WebviewPanel;
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(panel.webview.html)?.[1] ?? "";
  expect(policy).toMatch(/^default-src 'none'; style-src https:\/\/own 'nonce-[\w-]{20,}'; script-src 'nonce-[\w-]{20,}'; base-uri 'none'; form-action 'none'$/);
  expect(panel.webview.html).not.toMatch(/unsafe|style="/);
});

test("of several assistants a person says which; one that gives up opens nothing", async () => {
  ask.mockResolvedValueOnce(answer({ assistants: [{ key: "a", name: "A" }, { key: "b", name: "B" }] }));
  vi.mocked(vscode.window).showQuickPick.mockResolvedValueOnce(undefined);
  await commands.get("loopLs.client.assistantForm")?.({ uri: "file:///w/d.assistant.yaml" });
  expect(vscode.window.createWebviewPanel).not.toHaveBeenCalled();
});

test("without an assistant, and without a server, a person is told what is missing", async () => {
  await commands.get("loopLs.client.assistantForm")?.();
  expect(vscode.window.showInformationMessage).toHaveBeenCalledWith(expect.stringContaining(".assistant.yaml"));
  ask.mockResolvedValueOnce(undefined);
  await commands.get("loopLs.client.enhanceForm")?.();
  expect(vscode.window.showErrorMessage).toHaveBeenCalledWith(expect.stringContaining("not running"));
});

test("a lens stands where the server says that an assistant begins", async () => {
  ask.mockResolvedValueOnce(answer({ assistants: [{ key: "a", line: 1 }, { key: "b", line: 9 }] }));
  const found = await lenses({ ask } as never, { uri: vscode.Uri.parse("file:///w/a.assistant.yaml") } as never);
  expect(found.map((lens) => [lens.range.start.line, lens.command?.arguments?.[0].name])).toEqual([[1, "a"], [9, "b"]]);
  ask.mockResolvedValueOnce(undefined);
  expect(await lenses({ ask } as never, { uri: vscode.Uri.parse("file:///w/a.assistant.yaml") } as never)).toEqual([]);
});
