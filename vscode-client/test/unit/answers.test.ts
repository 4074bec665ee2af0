import { beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import { consentLines } from "../../src/answers/consent";
import { Memory } from "../../src/answers/memory";
import { type Answer, type Argument, settle as settleWith } from "../../src/answers/settle";
import { people } from "./inputBox";

const window = vi.mocked(vscode.window);

/** A server that answers from a list and remembers what it was asked. */
function server(...answers: Answer[]) {
  const asked: Argument[] = [];
  const call = async (argument: Argument) => {
    asked.push(argument);
    return answers[asked.length - 1];
  };
  return { asked, call };
}

let kept: Map<string, unknown>;
const settle = (call: Parameters<typeof settleWith>[0], argument: Argument) =>
  settleWith(call, argument, new Memory({ get: (key: string) => kept.get(key), update: async (key: string, value: unknown) => void kept.set(key, value) } as never));

beforeEach(() => {
  vi.resetAllMocks();
  kept = new Map();
  window.showErrorMessage.mockResolvedValue(undefined);
});

test("a success asks nothing", async () => {
  const { call } = server({ ok: true, runId: "r1" });
  expect(await settle(call, { uri: "u" })).toEqual({ ok: true, runId: "r1" });
  expect(window.createInputBox).not.toHaveBeenCalled();
});

test("a missing input is asked for and sent", async () => {
  people(["slugify titles"]);
  const { asked, call } = server({ ok: false, code: "input_required", names: ["input"] }, { ok: true });
  await settle(call, { uri: "u" });
  expect(asked).toEqual([{ uri: "u" }, { uri: "u", input: "slugify titles" }]);
});

test("parameters go into their own object, beside those that are there", async () => {
  people(["red"]);
  const { asked, call } = server({ ok: false, code: "input_required", names: ["colour"] }, { ok: true });
  await settle(call, { uri: "u", parameters: { size: "1" } });
  expect(asked[1]).toEqual({ uri: "u", parameters: { size: "1", colour: "red" } });
});

test("an input box that is closed ends the matter without another call", async () => {
  people([undefined]);
  const { asked, call } = server({ ok: false, code: "input_required", names: ["input"] });
  await settle(call, { uri: "u" });
  expect(asked).toHaveLength(1);
});

test("consent shows what the run may do and says yes by the number of the question", async () => {
  window.showWarningMessage.mockResolvedValueOnce("Allow and Run" as never);
  const refusal = { ok: false, code: "consent_required", capabilities: ["starts `npm test`", "sends data to api.example, with the value of KEY"], digest: "d1", nonce: "n1" };
  const { asked, call } = server(refusal, { ok: true });
  await settle(call, { uri: "u" });
  expect(asked[1]).toEqual({ uri: "u", consent: "n1" });
  expect(consentLines(refusal)).toEqual(["It starts `npm test`.", "It sends data to api.example, with the value of KEY."]);
});

test("a line of consent that does not fit is shown with its beginning, its end, and how much is left out", async () => {
  window.showWarningMessage.mockResolvedValueOnce(undefined);
  const evil = `starts \`sh -c true${" ".repeat(5000)}; evil\``;
  const { call } = server({ ok: false, code: "consent_required", capabilities: [evil, "starts `make`"], digest: "d1", nonce: "n1" });
  await settle(call, { uri: "u" });
  const [, options] = window.showWarningMessage.mock.lastCall as unknown as [string, { detail: string }];
  const [first = "", second] = options.detail.split("\n");
  expect(first).toMatch(/^It starts `sh -c true .* more characters, see the details … .*; evil`\.$/);
  expect(first.length).toBeLessThan(400);
  expect(second).toBe("It starts `make`.");
});

test("consent that is refused starts nothing", async () => {
  window.showWarningMessage.mockResolvedValueOnce(undefined);
  const { asked, call } = server({ ok: false, code: "consent_required", digest: "d1" });
  await settle(call, { uri: "u" });
  expect(asked).toHaveLength(1);
});

test("any other refusal is shown as its sentence and its way out", async () => {
  const { call } = server({ ok: false, code: "wrong_status", message: "The run has ended.", hint: "Run it again." });
  await settle(call, { uri: "u" });
  expect(window.showErrorMessage).toHaveBeenCalledWith("The run has ended. Run it again.", "Show Log");
});

test("where nothing is run because the workspace is not trusted, the way to trust it is offered", async () => {
  const { call } = server({ ok: false, code: "not_trusted", message: "This workspace is not trusted.", hint: "Trust it first." });
  vi.mocked(window.showWarningMessage).mockResolvedValueOnce("Manage Trust" as never);
  await settle(call, { uri: "u" });
  expect(window.showWarningMessage).toHaveBeenCalledWith("This workspace is not trusted. Trust it first.", "Manage Trust");
  await vi.waitFor(() => expect(vscode.commands.executeCommand).toHaveBeenCalledWith("workbench.trust.manage"));
});

test("a file with errors offers its problems", async () => {
  const { call } = server({ ok: false, code: "file_has_errors", message: "dev.yaml has 1 error." });
  await settle(call, { uri: "u" });
  expect(window.showErrorMessage).toHaveBeenCalledWith("dev.yaml has 1 error.", "Show Problems");
});

test("a server that asks for ever is not asked for ever", async () => {
  people(Array<string>(9).fill("x"));
  const ask = { ok: false, code: "input_required", names: ["input"] };
  const { asked, call } = server(...Array.from({ length: 9 }, () => ask));
  expect(await settle(call, {})).toBeUndefined();
  expect(asked.length).toBeLessThan(6);
});

const ask = { ok: false, code: "input_required", names: ["input"] };
const run = { uri: "file:///w/a.yaml", target: { kind: "loop", name: "develop" } };

test("what was typed the last time is there the next time, for the same part of the same file", async () => {
  const boxes = people(["slugify titles", "take what is there", "x", "y"]);
  await settle(server(ask, { ok: true }).call, run);
  const second = server(ask, { ok: true });
  await settle(second.call, run);
  expect(second.asked[1]).toEqual({ ...run, input: "slugify titles" });
  await settle(server(ask, { ok: true }).call, { ...run, target: { kind: "loop", name: "other" } });
  await settle(server(ask, { ok: true }).call, { ...run, uri: "file:///w/b.yaml" });
  expect(boxes.map((box) => box.value)).toEqual(["", "slugify titles", "", ""]);
});

test.each(["api_key", "githubToken", "PASSWORD", "client-secret"])("%s is typed unseen and not kept", async (name) => {
  const boxes = people(["s3cret", undefined]);
  await settle(server({ ...ask, names: [name] }, { ok: true }).call, run);
  await settle(server({ ...ask, names: [name] }, { ok: true }).call, run);
  expect(boxes.map(({ value, password, buttons }) => [value, password, buttons.length])).toEqual([["", true, 0], ["", true, 0]]);
  expect(JSON.stringify([...kept])).not.toContain("s3cret");
});

test.each(["keyword", "monkey", "tokens", "keys_to_check"])("%s is no secret", async (name) => {
  const boxes = people(["x"]);
  await settle(server({ ...ask, names: [name] }, { ok: true }).call, run);
  expect(boxes[0]?.password).toBe(false);
  expect([...kept.values()]).toEqual(["x"]);
});

test.each([
  [{ name: "tone", description: "How it sounds.", default: "calm" }, "calm"],
  [{ name: "size", choices: ["small", "large"] }, "large"],
])("what the server knows of a parameter is shown, its default is there, choices are a list: $name", async (field, given) => {
  const boxes = people(["take what is there"]);
  window.showQuickPick.mockResolvedValueOnce("large" as never);
  const { asked, call } = server({ ...ask, names: [field.name], fields: [field] }, { ok: true });
  await settle(call, run);
  if (boxes.length) expect(boxes[0]).toMatchObject({ prompt: "How it sounds", value: "calm" });
  expect(asked[1]).toMatchObject({ parameters: { [field.name]: given } });
});

test("several texts are asked for in one form, with what each is for and what it was the last time", async () => {
  const fields = [
    { name: "input", default: "" },
    { name: "tone", description: "How it sounds.", default: "calm" },
    { name: "size", choices: ["small", "large"] },
    { name: "api_key" },
  ];
  const names = fields.map(({ name }) => name);
  const form = vi.mocked(vscode.commands.executeCommand);
  form.mockResolvedValueOnce({ input: "a frog", tone: "loud", size: "large", api_key: "s3cret" }).mockResolvedValueOnce(undefined);
  const { asked, call } = server({ ...ask, names, fields }, { ok: true });
  await settle(call, run);
  expect(asked[1]).toMatchObject({ input: "a frog", parameters: { tone: "loud", size: "large", api_key: "s3cret" } });
  expect(JSON.stringify([...kept])).not.toContain("s3cret");
  const again = server({ ...ask, names, fields }, { ok: true });
  await settle(again.call, run);
  expect(again.asked).toHaveLength(1); // closed
  const shown = form.mock.calls[1]?.[1] as { title: string; about: string; inputs: { name: string; last: string; help: string; secret: boolean }[] };
  expect([shown.title, shown.about]).toEqual(["Run develop", "a.yaml"]);
  expect(shown.inputs.map(({ last }) => last)).toEqual(["a frog", "loud", "large", ""]);
  expect(shown.inputs.map(({ help }) => help)).toEqual(["Input of the workflow, available as {{input}}", "How it sounds", "Text for {{size}}", "Text for {{api_key}}"]);
  expect(shown.inputs.map(({ secret }) => secret)).toEqual([false, false, false, true]);
});

test("a long text is written in a document, and comes back into it the next time", async () => {
  const document = { isClosed: true, getText: () => "first line\nsecond line" };
  const open = vi.fn().mockResolvedValue(document);
  Object.assign(vscode.workspace, { openTextDocument: open });
  window.showInformationMessage.mockResolvedValue("Run with This Text" as never);
  const boxes = people(["use the pencil", "use the pencil"]);
  const { asked, call } = server(ask, { ok: true });
  await settle(call, run);
  expect(asked[1]).toMatchObject({ input: "first line\nsecond line" });
  await settle(server(ask, { ok: true }).call, run);
  expect(boxes[1]).toMatchObject({ value: "", placeholder: "2 lines the last time; the pencil opens them" });
  expect(open.mock.calls[1]?.[0]).toMatchObject({ content: "first line\nsecond line" });
});

test("allowing is not what Enter takes, and looking at the details starts nothing", async () => {
  Object.assign(vscode.workspace, { openTextDocument: vi.fn().mockResolvedValue({}) });
  window.showWarningMessage.mockResolvedValueOnce("Show Details" as never);
  const { asked, call } = server({ ok: false, code: "consent_required", capabilities: ["starts `npm test`"], digest: "d1", nonce: "n1" });
  await settle(call, run);
  expect(asked).toHaveLength(1);
  const [, options, ...buttons] = window.showWarningMessage.mock.calls[0] as unknown as [string, { detail: string }, ...string[]];
  expect(buttons[0]).not.toMatch(/allow/i);
  expect(options.detail).toContain("d1");
});
