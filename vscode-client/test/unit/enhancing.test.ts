import { readFileSync } from "node:fs";
import { beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import { ENHANCING, enhancingPart } from "../../src/runs/enhancing";

const commands = new Map<string, () => Promise<unknown>>();

beforeEach(() => {
  vi.clearAllMocks();
  commands.clear();
  vi.mocked(vscode.commands.registerCommand).mockImplementation(((id: string, run: () => Promise<unknown>) => {
    commands.set(id, run);
    return { dispose: () => commands.delete(id) };
  }) as never);
  enhancingPart(undefined as never);
});

test("the commands are about the file that is looked at", async () => {
  const document = { uri: { toString: () => "file:///w/report.yaml" } };
  Object.assign(vscode.window, { activeTextEditor: { document } });
  await commands.get("loopLs.client.showTimeline")?.();
  await commands.get("loopLs.client.enhance")?.();
  expect(vi.mocked(vscode.commands.executeCommand).mock.calls).toEqual([
    ["loopLs.enhance.timeline", { uri: "file:///w/report.yaml", show: true }],
    ["loopLs.enhance.start", { uri: "file:///w/report.yaml" }],
  ]);
});

test("without a file a person is told what is missing", async () => {
  Object.assign(vscode.window, { activeTextEditor: undefined });
  await commands.get("loopLs.client.enhance")?.();
  expect(vscode.commands.executeCommand).not.toHaveBeenCalled();
  expect(vscode.window.showInformationMessage).toHaveBeenCalledWith("First open the workflow.");
});

test("the palette lists each of them", () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8"));
  const listed = manifest.contributes.commands.map((each: { command: string }) => each.command);
  expect(listed).toEqual(expect.arrayContaining(Object.keys(ENHANCING)));
});
