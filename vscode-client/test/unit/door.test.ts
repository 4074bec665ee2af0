import { beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";

/** What the door loads, told from the outside: how often it was loaded, and whether stand-ins were gone by then. */
const loaded = vi.hoisted(() => ({ times: 0, commandsThen: [] as string[] }));
const commands = new Map<string, (...args: unknown[]) => unknown>();
const opened: ((document: unknown) => void)[] = [];
const changed: ((change: { document: unknown }) => void)[] = [];
let files: string[] = [];

vi.mock("../../src/client.js", () => ({
  start: () => {
    loaded.times += 1;
    loaded.commandsThen = [...commands.keys()];
    commands.set("loopLs.client.doctor", (...args) => ["doctor", ...args]);
    const started = Promise.resolve().then(() => void commands.set("loopLs.run", () => "runs"));
    return { started, stop: async () => undefined };
  },
}));

const document = (path: string, text = "", languageId = "yaml", scheme = "file") => {
  const lines = text.split("\n");
  return {
    uri: { scheme, path }, languageId, lineCount: lines.length,
    lineAt: (line: number) => ({ text: lines[line] ?? "" }),
  };
};

beforeEach(() => {
  vi.clearAllMocks();
  vi.resetModules();
  Object.assign(loaded, { times: 0, commandsThen: [] });
  commands.clear();
  opened.length = changed.length = 0;
  files = [];
  const nothing = { dispose: () => undefined };
  vi.mocked(vscode.commands.registerCommand).mockImplementation(((id: string, run: never) => {
    if (commands.has(id)) throw new Error(`command '${id}' already exists`);
    commands.set(id, run);
    return { dispose: () => commands.delete(id) };
  }) as never);
  vi.mocked(vscode.commands.executeCommand).mockImplementation((async (id: string, ...args: unknown[]) =>
    id === "setContext" ? undefined : commands.get(id)?.(...args)) as never);
  vi.mocked(vscode.commands.getCommands).mockImplementation(async () => [...commands.keys()]);
  Object.assign(vscode.workspace, {
    textDocuments: [],
    onDidOpenTextDocument: (tell: never) => (opened.push(tell), nothing),
    onDidChangeTextDocument: (tell: never) => (changed.push(tell), nothing),
    onDidChangeWorkspaceFolders: () => nothing,
    registerFileSystemProvider: () => nothing,
  });
  const stat = async (file: { path: string }) => {
    if (!files.includes(file.path)) throw new Error("not there");
  };
  Object.defineProperty(vscode.workspace, "workspaceFolders", { value: [{ uri: { path: "/w" } }], configurable: true });
  Object.defineProperty(vscode.window, "tabGroups", { value: { all: [{ tabs: [{ input: undefined }] }] }, configurable: true });
  Object.defineProperty(vscode.workspace, "fs", { value: { stat }, configurable: true });
  Object.assign(vscode.Uri, { joinPath: (base: { path: string }, name: string) => ({ path: `${base.path}/${name}` }) });
});

async function activated(documents: unknown[] = []) {
  Object.assign(vscode.workspace, { textDocuments: documents });
  const contributes = { commands: [{ command: "loopLs.client.doctor" }, { command: "loopLs.run" }] };
  const { activate } = await import("../../src/extension.js");
  return activate({ subscriptions: [], extensionUri: { path: "/x" }, extension: { packageJSON: { contributes } } } as never);
}

const WORKFLOW = '$schema: "workflow/v2.0"\nname: a\n';

test.each([
  ["package.json", "json", "{}"],
  ["compose.yaml", "yaml", "services:\n  db: {}\n"],
  ["loops/readme.md", "markdown", WORKFLOW],
  ["openapi.yaml", "yaml", "$schema: https://example.org/workflow\nname: a\nsteps: []\n"],
])("%s is left alone, and nothing is loaded", async (name, language, text) => {
  const door = await activated([document(`/w/${name}`, text, language)]);
  await vi.waitFor(() => expect(opened).toHaveLength(1));
  changed[0]?.({ document: document(`/w/${name}`, `${text}\n# more`, language) });
  await new Promise((done) => setImmediate(done));
  expect(door.awake).toBe(false);
  expect(loaded.times).toBe(0);
});

test.each([
  ["flow.yaml", "yaml", WORKFLOW],
  ["quoted.yaml", "yaml", '# a comment\n\n"$schema": workflow/v2.0 # ours\n'],
  ["lookalike.yaml", "yaml", "name: a\nexecution:\n  provider: x\nsteps:\n  - name: b\n"],
  ["coder.assistant.yaml", "yaml", ""],
  ["loops/review.json", "json", "{}"],
  [".loop-ls.yaml", "yaml", ""],
])("%s wakes the rest, once", async (name, language, text) => {
  const door = await activated();
  opened[0]?.(document(`/w/${name}`, text, language));
  opened[0]?.(document(`/w/${name}`, text, language));
  expect(door.awake).toBe(true);
  await vi.waitFor(() => expect(loaded.times).toBe(1));
});

test("a file that becomes a workflow while somebody types it wakes the rest", async () => {
  const door = await activated([document("/w/new.yaml", "")]);
  expect(door.awake).toBe(false);
  changed[0]?.({ document: document("/w/new.yaml", WORKFLOW) });
  expect(door.awake).toBe(true);
});

test("a copy that an editor shows of an old version wakes nothing", async () => {
  const door = await activated([document("/w/flow.yaml", WORKFLOW, "yaml", "git")]);
  expect(door.awake).toBe(false);
});

test("the project's settings at the root wake the rest with no file open", async () => {
  files = ["/w/.loop-ls.yaml"];
  const door = await activated();
  await vi.waitFor(() => expect(door.awake).toBe(true));
});

test("a command asked for before anything is loaded is done, with its arguments, by the one who can", async () => {
  await activated();
  await expect(vscode.commands.executeCommand("loopLs.client.doctor", 1, "two")).resolves.toEqual(["doctor", 1, "two"]);
  expect(loaded.commandsThen).toEqual([]); // no stand-in was left to be in the way
});

test("a command of the server is done when the server has started", async () => {
  await activated();
  await expect(vscode.commands.executeCommand("loopLs.run")).resolves.toBe("runs");
});

test("a page of a run that the editor brought back wakes who fills it", async () => {
  const input = Object.assign(Object.create(vscode.TabInputWebview.prototype), { viewType: "mainThreadWebview-loopLs.run" });
  Object.defineProperty(vscode.window, "tabGroups", { value: { all: [{ tabs: [{ input }] }] }, configurable: true });
  expect((await activated()).awake).toBe(true);
});
