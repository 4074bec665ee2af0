import { beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import { type Answer, type Argument, consentLines, settle } from "../../src/answers/settle";

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

beforeEach(() => {
  vi.resetAllMocks();
  window.showErrorMessage.mockResolvedValue(undefined);
});

test("a success asks nothing", async () => {
  const { call } = server({ ok: true, runId: "r1" });
  expect(await settle(call, { uri: "u" })).toEqual({ ok: true, runId: "r1" });
  expect(window.showInputBox).not.toHaveBeenCalled();
});

test("a missing input is asked for and sent", async () => {
  window.showInputBox.mockResolvedValueOnce("slugify titles");
  const { asked, call } = server({ ok: false, code: "input_required", names: ["input"] }, { ok: true });
  await settle(call, { uri: "u" });
  expect(asked).toEqual([{ uri: "u" }, { uri: "u", input: "slugify titles" }]);
});

test("parameters go into their own object, beside those that are there", async () => {
  window.showInputBox.mockResolvedValueOnce("red");
  const { asked, call } = server({ ok: false, code: "input_required", names: ["colour"] }, { ok: true });
  await settle(call, { uri: "u", parameters: { size: "1" } });
  expect(asked[1]).toEqual({ uri: "u", parameters: { size: "1", colour: "red" } });
});

test("an input box that is closed ends the matter without another call", async () => {
  window.showInputBox.mockResolvedValueOnce(undefined);
  const { asked, call } = server({ ok: false, code: "input_required", names: ["input"] });
  await settle(call, { uri: "u" });
  expect(asked).toHaveLength(1);
});

test("consent shows programs and hosts and sends the digest", async () => {
  window.showWarningMessage.mockResolvedValueOnce("Allow and run" as never);
  const refusal = { ok: false, code: "consent_required", programs: [["npm", "test"]], endpoints: [{ host: "api.example", variable: "KEY" }], digest: "d1" };
  const { asked, call } = server(refusal, { ok: true });
  await settle(call, { uri: "u" });
  expect(asked[1]).toEqual({ uri: "u", consent: "d1" });
  expect(consentLines(refusal)).toEqual(["runs: npm test", "sends texts and the key in KEY to api.example"]);
});

test("consent that is refused starts nothing", async () => {
  window.showWarningMessage.mockResolvedValueOnce(undefined);
  const { asked, call } = server({ ok: false, code: "consent_required", digest: "d1" });
  await settle(call, { uri: "u" });
  expect(asked).toHaveLength(1);
});

test("any other refusal is shown as its sentence and its way out", async () => {
  const { call } = server({ ok: false, code: "not_trusted", message: "This workspace is not trusted.", hint: "Trust it first." });
  await settle(call, { uri: "u" });
  expect(window.showErrorMessage).toHaveBeenCalledWith("This workspace is not trusted. Trust it first.");
});

test("a file with errors offers its problems", async () => {
  const { call } = server({ ok: false, code: "file_has_errors", message: "dev.yaml has 1 error." });
  await settle(call, { uri: "u" });
  expect(window.showErrorMessage).toHaveBeenCalledWith("dev.yaml has 1 error.", "Show Problems");
});

test("a server that asks for ever is not asked for ever", async () => {
  window.showInputBox.mockResolvedValue("x");
  const ask = { ok: false, code: "input_required", names: ["input"] };
  const { asked, call } = server(...Array.from({ length: 9 }, () => ask));
  expect(await settle(call, {})).toBeUndefined();
  expect(asked.length).toBeLessThan(6);
});
