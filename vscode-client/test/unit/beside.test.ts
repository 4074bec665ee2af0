// Beside other extensions: nothing is changed without a yes, and what others say anyway is not said again.
import { beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import { MODELINE, Offer, QUIET, YAML_EXTENSION } from "../../src/editing/besideYaml";
import { withoutDoubles } from "../../src/editing/doubles";
import { registerSchemas } from "../../src/editing/jsonSchemas";

const WORKFLOW = '$schema: "workflow/v2.0"\nname: a\n';
const settings: Record<string, unknown> = {};
const update = vi.fn();
const window = vi.mocked(vscode.window);
let kept: Map<string, unknown>;
let installed: string[];

beforeEach(() => {
  vi.resetAllMocks();
  kept = new Map();
  installed = [YAML_EXTENSION];
  for (const name of Object.keys(settings)) delete settings[name];
  vi.mocked(vscode.extensions).getExtension.mockImplementation(((id: string) => (installed.includes(id) ? {} : undefined)) as never);
  vi.mocked(vscode.workspace.getConfiguration).mockReturnValue({ get: (name: string) => settings[name], update } as never);
});

function file(text: string, languageId = "yaml", name = "/w/flow.yaml") {
  const lines = text.split("\n");
  return { languageId, uri: vscode.Uri.file(name), lineCount: lines.length, lineAt: (line: number) => ({ text: lines[line] }), getText: () => text } as never;
}

const offer = () =>
  new Offer({ get: (key: string) => kept.get(key), update: async (key: string, value: unknown) => void kept.set(key, value) } as never, { status: "ready" });

test("it is offered once in a window, with three answers", async () => {
  const one = offer();
  await one.consider(file(WORKFLOW));
  await one.consider(file(WORKFLOW));
  expect(window.showInformationMessage).toHaveBeenCalledOnce();
  expect(window.showInformationMessage.mock.calls[0]?.slice(1)).toEqual(["Do It", "Not Now", "Never"]);
  expect(update).not.toHaveBeenCalled();
});

test("never is for ever, not now is until the next window", async () => {
  window.showInformationMessage.mockResolvedValueOnce("Not Now" as never).mockResolvedValueOnce("Never" as never);
  for (let opened = 0; opened < 3; opened++) await offer().consider(file(WORKFLOW));
  expect(window.showInformationMessage).toHaveBeenCalledTimes(2);
  expect(update).not.toHaveBeenCalled();
});

test.each([
  ["without the YAML extension", WORKFLOW, () => (installed = [])],
  ["where it does not check", WORKFLOW, () => (settings.validate = false)],
  ["in a file that is none of ours", "services: {}\n", () => undefined],
  ["in a file that tells it already", `${MODELINE}\n${WORKFLOW}`, () => undefined],
])("nothing is offered %s", async (_, text, arrange) => {
  arrange();
  await offer().consider(file(text));
  expect(window.showInformationMessage).not.toHaveBeenCalled();
});

test("for the workspace, the documented settings are written, and no others", async () => {
  window.showInformationMessage.mockResolvedValueOnce("Do It" as never);
  window.showQuickPick.mockResolvedValueOnce({ label: "All YAML Files of This Workspace" } as never);
  await offer().consider(file(WORKFLOW));
  expect(Object.fromEntries(update.mock.calls.map(([name, value]) => [name, value]))).toEqual(QUIET);
});

test("for a file, one line is added, and no setting changes", async () => {
  window.showInformationMessage.mockResolvedValueOnce("Do It" as never);
  window.showQuickPick.mockResolvedValueOnce({ label: "This File Only" } as never);
  const applyEdit = vi.fn();
  Object.assign(vscode.workspace, { applyEdit });
  await offer().consider(file(WORKFLOW));
  expect(applyEdit).toHaveBeenCalledOnce();
  expect(update).not.toHaveBeenCalled();
});

test("a yes that is taken back changes nothing", async () => {
  window.showInformationMessage.mockResolvedValueOnce("Do It" as never);
  window.showQuickPick.mockResolvedValueOnce(undefined);
  await offer().consider(file(WORKFLOW));
  expect(update).not.toHaveBeenCalled();
});

// -- JSON ----------------------------------------------------------------------------------------

const finding = (code: string) => ({ code: { value: code } }) as never as vscode.Diagnostic;
const broken = file('{"name": }', "json", "/w/loops/a.json");

test("that a text is no JSON is said by the editor's own support, once", () => {
  const found = [finding("RL001"), finding("RL015")];
  expect(withoutDoubles(broken, found)).toEqual([found[1]]);
  settings["validate.enable"] = false;
  expect(withoutDoubles(broken, found)).toEqual(found);
});

test("what is JSON and still no definition is ours to say", () => {
  const found = [finding("RL001")];
  expect(withoutDoubles(file("[]", "json"), found)).toEqual(found);
  expect(withoutDoubles(file("a: [", "yaml"), found)).toEqual(found);
});

test("the schemas of JSON files are empty while the server runs, and there when it does not", async () => {
  const onDisk = new TextEncoder().encode('{"title": "role loop"}');
  Object.assign(vscode.workspace, { registerFileSystemProvider: vi.fn() });
  Object.defineProperty(vscode.workspace, "fs", { value: { readFile: async () => onDisk }, configurable: true });
  const files = registerSchemas(vscode.Uri.file("/x"));
  const uri = vscode.Uri.parse("loop-ls-schema://schemas/role-loop.schema.json");
  const read = async () => new TextDecoder().decode(await files.readFile(uri));
  expect(await read()).toBe("{}\n");
  const { mtime } = await files.stat(uri);
  files.follow("failed");
  expect(await read()).toContain("role loop");
  expect((await files.stat(uri)).mtime).toBeGreaterThan(mtime);
  files.follow("ready");
  expect(await read()).toBe("{}\n");
});
