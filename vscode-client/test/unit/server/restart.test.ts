import { beforeEach, expect, test, vi } from "vitest";
import * as vscode from "vscode";

/** Language clients of which at most one may be alive; a start waits until the test lets it go on. */
const host = vi.hoisted(() => ({
  alive: 0, most: 0, started: 0, reveal: new Set<unknown>(), go: [] as (() => void)[],
  find: async (): Promise<unknown> => ({ command: "/x/loop-ls", args: ["serve"], origin: "setting" }),
}));

vi.mock("vscode-languageclient/node", () => ({
  RevealOutputChannelOn: { Info: 1, Warn: 2, Error: 3, Never: 4 },
  LanguageClient: class {
    constructor(_id: string, _name: string, _server: unknown, options: { revealOutputChannelOn?: unknown }) {
      host.reveal.add(options.revealOutputChannelOn);
    }
    onNotification() {}
    async start() {
      host.alive += 1;
      host.started += 1;
      host.most = Math.max(host.most, host.alive);
      await new Promise<void>((go) => host.go.push(go));
    }
    async dispose() {
      host.alive -= 1;
    }
  },
}));

vi.mock("../../../src/server/program.js", () => ({
  ServerProcess: class {
    running = Promise.resolve();
    async end() {}
  },
}));

vi.mock("../../../src/server/find.js", () => ({
  Finder: class {
    find = () => host.find();
    environment = () => ({});
    dispose() {}
  },
}));

const channel = { info: vi.fn(), debug: vi.fn(), warn: vi.fn(), error: vi.fn(), show: vi.fn(), dispose: vi.fn(), appendLine: vi.fn() };
const commands = new Map<string, () => Promise<void>>();
const configuration = { get: () => undefined };

beforeEach(() => {
  vi.clearAllMocks();
  Object.assign(host, { alive: 0, most: 0, started: 0, go: [] });
  commands.clear();
  vi.mocked(vscode.window.createOutputChannel).mockReturnValue(channel as never);
  const item = { show: vi.fn(), hide: vi.fn(), dispose: vi.fn() };
  vi.mocked(vscode.window.createStatusBarItem).mockReturnValue(item as never);
  vi.mocked(vscode.workspace.getConfiguration).mockReturnValue(configuration as never);
  vi.mocked(vscode.commands.registerCommand).mockImplementation(((id: string, run: () => Promise<void>) => {
    if (commands.has(id)) throw new Error(`command '${id}' already exists`);
    commands.set(id, run);
    return { dispose: () => commands.delete(id) };
  }) as never);
  const grant = vi.fn(() => ({ dispose: vi.fn() }));
  Object.assign(vscode.workspace, { onDidGrantWorkspaceTrust: grant, onDidChangeConfiguration: grant, isTrusted: true });
});

/** Lets starts go on, one after the other, until the work is done. */
async function settled(work: Promise<unknown>): Promise<void> {
  let done = false;
  const end = work.finally(() => (done = true));
  await vi.waitUntil(() => {
    host.go.shift()?.();
    return done;
  });
  await end;
}

const version = { packageJSON: { version: "0.1.0" } };
const context = { subscriptions: [], extensionUri: {}, workspaceState: new Map(), globalState: { get: () => undefined, update: vi.fn() }, extension: version };

async function activated() {
  vi.resetModules();
  const { start } = await import("../../../src/client.js");
  const client = start(context as never, { follow: vi.fn() } as never);
  await settled(client.started);
  return client;
}

test("test_UP_38_restarts_that_come_quickly_follow_each_other_and_register_nothing_again", async () => {
  const client = await activated();
  const registered = [...commands.keys()];
  const restart = commands.get("loopLs.client.restart");
  await settled(Promise.all([restart?.(), restart?.(), restart?.()]));
  expect(host.most).toBe(1);
  expect(host.alive).toBe(1);
  expect(host.started).toBeGreaterThan(1);
  expect([...commands.keys()]).toEqual(registered);
  await client.stop();
  expect(host.alive).toBe(0);
});

test("test_UP_38_a_restart_that_failed_does_not_keep_the_next_from_its_turn", async () => {
  await activated();
  const restart = commands.get("loopLs.client.restart");
  const { find } = host;
  host.find = async () => {
    host.find = find;
    throw new Error("settings are gone");
  };
  await restart?.().catch(() => undefined);
  await settled(Promise.resolve(restart?.()));
  expect(host.alive).toBe(1);
});

test("test_UP_43_the_output_channel_never_opens_by_itself", async () => {
  await activated();
  expect([...host.reveal]).toEqual([4]);
  expect(channel.show).not.toHaveBeenCalled();
});
