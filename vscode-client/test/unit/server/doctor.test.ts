// The page of the doctor: there at once, and filled in once the server has started and everything is found.
import { beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";
import { Doctor } from "../../../src/server/doctor";
import type { Connection } from "../../../src/server/connection";
import type { Finder } from "../../../src/server/find";

let opened: string[];

beforeEach(() => {
  opened = [];
  Object.assign(vscode.workspace, { registerTextDocumentContentProvider: vi.fn(() => ({ dispose: () => undefined })) });
  Object.assign(vscode.workspace, { isTrusted: true, getConfiguration: () => ({ get: (name: string) => (name === "server.command" ? ["loop-ls", "serve"] : undefined) }) });
  Object.assign(vscode.languages, { getDiagnostics: () => [] });
});

function doctorFor(status: string) {
  const changed = new vscode.EventEmitter<string>();
  const program = { command: "/x/loop-ls", args: ["serve"], origin: "path", pid: 1, version: undefined as string | undefined };
  const server = { status, trouble: undefined, program, onDidChangeStatus: changed.event, ask: vi.fn(async () => ({ ok: true, engine: { running: false } })) };
  const finder = { root: "/x", carried: async () => undefined, pythons: async () => [] };
  const extension = { packageJSON: { version: "0.1.0" } };
  const doctor = new Doctor(server as unknown as Connection, finder as unknown as Finder, extension as never);
  Object.assign(vscode.workspace, { openTextDocument: vi.fn(async () => opened.push(doctor.provideTextDocumentContent())) });
  Object.assign(vscode.commands, { executeCommand: vi.fn(async () => undefined) });
  return { doctor, server, started: () => (Object.assign(server, { status: "ready" }), (program.version = "0.1.0"), changed.fire("ready")) };
}

test("a server that is still starting is waited for, and is no problem", async () => {
  const { doctor, server, started } = doctorFor("starting");
  const shown = doctor.show();
  await vi.waitFor(() => expect(opened).toHaveLength(1));
  expect(opened[0]).toContain("Looking for Python and the engine");
  expect(opened[0]).not.toMatch(/problem|does not report/);
  expect(server.ask).not.toHaveBeenCalled();
  started();
  expect(await shown).toContain("**No problems found.**");
  expect(doctor.provideTextDocumentContent()).toContain("| Status | ready |");
});

test("a server that runs without saying its version is one", async () => {
  const { doctor } = doctorFor("ready");
  expect(await doctor.show()).toContain("does not report its version");
});
