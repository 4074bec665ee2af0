// A run that waits without a question of its own: its provider's quota is used up, or an enhance loop stands between
// two rounds. The window says so and takes the answer, also where the engine was killed in between.
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { inEditor } from "../../editor/inEditor";
import { mended } from "../../editor/panelFlows";
import type { EditorWindow } from "../../editor/window";

vi.setConfig({ testTimeout: 300_000 }); // whole stories, on machines that may be busy

const LONG = { timeout: 100_000 };
const FLOW = `$schema: "workflow/v2.0"
name: flow
version: 1.0.0
execution: {provider: house, model: m}
steps:
  - {name: draft, run: "Write about the sea"}
`;

/** A provider whose quota is used up until somebody opens it. */
let provider: Server;
let usedUp = true;
beforeAll(async () => {
  provider = createServer((request, response) => {
    request.resume().on("end", () => {
      const headers = { "content-type": usedUp ? "application/json" : "text/event-stream", "retry-after": "36000" };
      response.writeHead(usedUp ? 429 : 200, headers);
      const said = JSON.stringify({ choices: [{ delta: { content: "fine" }, finish_reason: "stop" }] });
      response.end(usedUp ? '{"error": {"message": "used up", "type": "insufficient_quota"}}' : `data: ${said}\n\ndata: [DONE]\n\n`);
    });
  });
  await new Promise<void>((done) => provider.listen(0, "127.0.0.1", done));
});
afterAll(() => provider.close());

const editor = inEditor();

const newest = async (): Promise<Record<string, unknown>> => {
  const { runs } = JSON.parse(await editor.loopLs(folder, "runs", "--json")) as { runs: Record<string, unknown>[] };
  return runs[0] ?? {};
};

let window: EditorWindow;
let folder: string;
beforeAll(async () => {
  const house = { kind: "openai", baseUrl: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1` };
  const files = { "flow.yaml": FLOW, ".loop-ls.yaml": JSON.stringify({ providers: { house } }) };
  ({ window, folder } = await editor.open(files, "flow.yaml"));
  await editor.loopLs(folder, "engine", "start"); // at the pace of the machine
  await window.lens(/Run workflow/).waitFor(LONG);
});

/** A run of the workflow that waits until its quota is there again. */
async function begin(): Promise<void> {
  usedUp = true;
  await window.lens(/Run workflow/).click();
  const allow = window.page.locator(".monaco-dialog-box .monaco-button", { hasText: "Allow" }).first();
  const waiting = window.told(/waiting until/);
  await allow.or(waiting).first().waitFor(LONG);
  if (await allow.isVisible()) await allow.click();
  await waiting.waitFor(LONG);
  usedUp = false;
}

async function resume(): Promise<void> {
  await window.command("Loop: Answer What Waits...");
  await window.pick("flow is waiting until");
  await window.pick("Resume");
  await window.answer("");
}

test("a run whose quota is used up says until when it waits, and is resumed from the inbox", async () => {
  await begin();
  await window.picture("pausing-quota");
  await resume();
  await window.told("completed").waitFor(LONG);
  expect((await newest())["lastAnswer"]).toMatchObject({ answer: "resume", via: "vscode" });
});

test("it still waits after the engine was killed, and is resumed then", async () => {
  await begin();
  const { pid } = JSON.parse(readFileSync(path.join(editor.server.dataDir, "engine.json"), "utf8")) as { pid: number };
  process.kill(pid, "SIGKILL");
  await editor.loopLs(folder, "engine", "start");
  await expect.poll(async () => (await newest())["status"], LONG).toBe("paused");
  await resume();
  await window.told("completed").waitFor(LONG);
  expect((await newest())["lastAnswer"]).toMatchObject({ answer: "resume", via: "vscode" });
});

test("an enhance loop between two rounds is answered from the inbox", async () => {
  ({ window, folder } = await editor.open(mended({ pause: true }), "report.yaml"));
  await window.lens("Run workflow").click();
  await expect.poll(async () => (await newest())["status"], LONG).toBe("paused");
  await window.command("Loop: Answer What Waits...");
  await window.pick("waits between rounds, after round 1");
  await window.picture("pausing-between-rounds");
  await window.pick(/^Continue$/);
  await window.answer("");
  await window.told("converged in round 2").waitFor(LONG);
  expect((await newest())["lastAnswer"]).toMatchObject({ answer: "continue", via: "vscode" });
});
