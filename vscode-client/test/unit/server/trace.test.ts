import { beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import { TraceChannel } from "../../../src/server/trace";

const lines: string[] = [];
let wanted = "off";
let changed: (change: { affectsConfiguration: () => boolean }) => void = () => undefined;

beforeEach(() => {
  vi.clearAllMocks();
  lines.length = 0;
  wanted = "off";
  vi.mocked(vscode.workspace.getConfiguration).mockReturnValue({ get: () => wanted } as never);
  vi.mocked(vscode.window.createOutputChannel).mockReturnValue({ appendLine: (line: string) => lines.push(line), dispose: vi.fn() } as never);
  Object.assign(vscode.workspace, {
    onDidChangeConfiguration: (tell: typeof changed) => {
      changed = tell;
      return { dispose: vi.fn() };
    },
  });
});

test("the setting decides, and a change is told at once", () => {
  const trace = new TraceChannel();
  const levels: vscode.LogLevel[] = [];
  trace.onDidChangeLogLevel((level) => levels.push(level));
  expect(trace.logLevel).toBe(vscode.LogLevel.Off);
  wanted = "verbose";
  changed({ affectsConfiguration: () => true });
  expect(levels).toEqual([vscode.LogLevel.Trace]);
});

test("a channel is made with the first line", () => {
  const trace = new TraceChannel();
  expect(vscode.window.createOutputChannel).not.toHaveBeenCalled();
  trace.trace("Sending request 'initialize'");
  expect(lines).toEqual([expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3} Sending request 'initialize'$/)]);
});
