// New files from the templates that `loop-ls new` has: where they go, how they are called, never over others.
import { readFileSync } from "node:fs";
import { beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import { newFile } from "../../src/editing/newFile";
import { contents, nearestName, type Kinds } from "../../src/editing/templates";
import { snippetsAt } from "../../src/editing/withoutServer";

const TEMPLATES = "../loop_ls/cli/new_files";
const kinds = JSON.parse(readFileSync(`${TEMPLATES}/kinds.json`, "utf8")) as Kinds;
const window = vi.mocked(vscode.window);
let there: string[];
let made: { uri: vscode.Uri; text: string }[];

beforeEach(() => {
  vi.resetAllMocks();
  [there, made] = [[], []];
  const fs = {
    readFile: async (uri: vscode.Uri) => there.includes(uri.path) ? new Uint8Array() : readFileSync(`${TEMPLATES}/${uri.path.split("/").at(-1)}`),
    stat: async (uri: vscode.Uri) => (there.includes(uri.path) ? {} : Promise.reject(new Error("no file"))),
  };
  Object.defineProperty(vscode.workspace, "fs", { value: fs, configurable: true });
  Object.assign(vscode.workspace, { applyEdit: vi.fn(async () => true), getWorkspaceFolder: () => undefined });
  Object.defineProperty(vscode.workspace, "workspaceFolders", { value: [{ uri: vscode.Uri.file("/w") }], configurable: true });
  Object.assign(vscode.window, { activeTextEditor: undefined });
  Object.assign(vscode.window, { showTextDocument: vi.fn() });
  vi.spyOn(vscode.WorkspaceEdit.prototype, "createFile").mockImplementation((uri, options) => {
    made.push({ uri, text: new TextDecoder().decode(options?.contents as Uint8Array) });
  });
});

const templates = vscode.Uri.file("/x/dist/templates");

test("a loop is two files, named and linked, and the first is opened", async () => {
  window.showInputBox.mockResolvedValueOnce("tidy_up");
  window.showQuickPick.mockResolvedValueOnce({ id: "anthropic" } as never);
  await newFile(templates, { kind: "loop" });
  expect(made.map(({ uri }) => uri.path)).toEqual(["/w/tidy_up.yaml", "/w/tidy_up_draft.yaml"]);
  expect(made[0]?.text).toContain("provider: anthropic");
  expect(made[0]?.text).toContain("workflow: tidy_up_draft");
  expect(made.map(({ text }) => text).join()).not.toMatch(/__\w+__/);
  expect(vscode.window.showTextDocument).toHaveBeenCalledOnce();
});

test("a first loop needs no key: its answers are in a file, and the settings name it", async () => {
  window.showInputBox.mockResolvedValueOnce("tidy_up");
  window.showQuickPick.mockResolvedValueOnce({ id: "scripted" } as never);
  await newFile(templates, { kind: "loop" });
  const files = ["/w/tidy_up.yaml", "/w/tidy_up_draft.yaml", "/w/.loop-ls.yaml", "/w/tidy_up.answers.yaml"];
  expect(made.map(({ uri }) => uri.path)).toEqual(files);
  expect(made[0]?.text).toContain("provider: scripted");
  expect(made[1]?.text).not.toContain("anthropic");
});

test("settings that are there stay, and what they lack is told", async () => {
  there = ["/w/.loop-ls.yaml"];
  window.showInputBox.mockResolvedValueOnce("tidy_up");
  window.showQuickPick.mockResolvedValueOnce({ id: "loop" } as never).mockResolvedValueOnce({ id: "local" } as never);
  await newFile(templates, vscode.Uri.file("/w"));
  expect(made.map(({ uri }) => uri.path)).toEqual(["/w/tidy_up.yaml", "/w/tidy_up_draft.yaml"]);
  expect(window.showInformationMessage.mock.lastCall?.[0]).toBe("Add this to .loop-ls.yaml under providers: local: {kind: local}");
});

test("every kind can be chosen, and its templates are there", async () => {
  for (const { files } of Object.values(kinds)) {
    for (const template of Object.keys(files)) expect(contents(readFileSync(`${TEMPLATES}/${template}`, "utf8"), "x_y")).not.toContain("__name__");
  }
  window.showQuickPick.mockResolvedValueOnce({ label: "Settings", id: "settings" } as never);
  await newFile(templates);
  expect(made.map(({ uri }) => uri.path)).toEqual(["/w/.loop-ls.yaml"]);
  expect(window.showInputBox).not.toHaveBeenCalled();
});

test("a folder that was clicked is where they go; a definition goes into loops", async () => {
  window.showQuickPick.mockResolvedValueOnce({ id: "role-loop" } as never);
  window.showInputBox.mockResolvedValueOnce("pair");
  await newFile(templates, vscode.Uri.file("/w/deep"));
  expect(made.map(({ uri }) => uri.path)).toEqual(["/w/deep/loops/pair.json"]);
});

test.each([
  ["My Loop", "such as my_loop"],
  ["1", "starting with a letter"],
  ["taken", "taken_draft.yaml already exists"],
])("the name %s is no name, and says why", async (typed, why) => {
  there = ["/w/taken_draft.yaml"];
  window.showInputBox.mockResolvedValueOnce(undefined);
  await newFile(templates, { kind: "loop" });
  const validate = window.showInputBox.mock.calls[0]?.[0]?.validateInput;
  expect(await validate?.(typed)).toContain(why);
  expect(await validate?.("fine")).toBeUndefined();
  expect(made).toEqual([]);
});

test("settings that are there are shown and not written over", async () => {
  there = ["/w/.loop-ls.yaml"];
  await newFile(templates, { kind: "settings" });
  expect(vscode.workspace.applyEdit).not.toHaveBeenCalled();
  expect(window.showErrorMessage).toHaveBeenCalledWith(".loop-ls.yaml could not be written: it already exists.");
  expect(vscode.window.showTextDocument).toHaveBeenCalledOnce();
});

test("without a folder a person is told to open one", async () => {
  Object.defineProperty(vscode.workspace, "workspaceFolders", { value: undefined, configurable: true });
  await newFile(templates, { kind: "loop" });
  expect(window.showInformationMessage).toHaveBeenCalledWith(expect.stringContaining("Open a folder first"), "Open Folder…");
  expect(made).toEqual([]);
});

test.each([["MyLoop", "my_loop"], ["a-b", "a_b"], ["../up", "up"], ["1x", "x"], ["ä", ""]])("%s is nearest to %s", (word, name) => {
  expect(nearestName(word)).toBe(name);
});

// -- without a server ----------------------------------------------------------------------------

const document = (text: string, languageId = "yaml") => {
  const lines = text.split("\n");
  return { languageId, uri: vscode.Uri.file("/w/a.yaml"), getText: () => text, lineCount: lines.length, lineAt: (line: number) => ({ text: lines[line] }) } as never;
};
const labels = (status: "ready" | "missing", text: string, line: number, character: number) =>
  snippetsAt({ status }, document(text), new vscode.Position(line, character)).map(({ label }) => label);

test("snippets are offered while no server runs: files where there is none, parts in ours, nothing in others", () => {
  const WORKFLOW = "$schema: workflow/v2.0\nsteps:\n  \n";
  expect(labels("missing", "wo", 0, 2)).toEqual(expect.arrayContaining(["workflow", "assistant", "settings of loops"]));
  expect(labels("missing", WORKFLOW, 2, 2)).toEqual(expect.arrayContaining(["step", "complete loop"]));
  expect(labels("missing", WORKFLOW, 0, 5)).toEqual([]);
  expect(labels("missing", "services:\n  \n", 1, 2)).toEqual([]);
  expect(labels("ready", "wo", 0, 2)).toEqual([]);
});
