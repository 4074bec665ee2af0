// Whatever a run waits for is answered in the window: a blocked role by message, and everything from one list.
import { beforeAll, expect, test } from "vitest";
import { inEditor } from "../../editor/inEditor";
import type { EditorWindow } from "../../editor/window";

const editor = inEditor();
let window: EditorWindow;
let folder: string;

const LOOP = {
  name: "stuck",
  description: "One asks before it goes on.",
  roles: [{ name: "think", role: "plan", prompt: "Think." }],
  termination_condition: { type: "iteration_bound", value: 1 },
};
const ANSWERS = { answers: [{ when: { contains: "5433" }, say: "done" }, { say: "STATUS: BLOCKED\nWhich port?" }] };
const FLOW = `$schema: "workflow/v2.0"
name: slow
version: 1.0.0
execution: {provider: scripted, model: m}
steps:
  - {name: one, run: "Write one"}
  - {name: two, needs: [one], run: "Write two after {{one}}"}
`;

beforeAll(async () => {
  ({ window, folder } = await editor.open(
    {
      "loops/stuck.json": JSON.stringify(LOOP, null, 2),
      "loops/stuck.answers.yaml": JSON.stringify(ANSWERS),
      "slow.yaml": FLOW,
      "slow.answers.yaml": "delay: 2\nanswers:\n  - say: text\n",
      ".loop-ls.yaml": "assist: {provider: scripted, model: m}\n",
    },
    "slow.yaml",
  ));
  await window.lens(/Run workflow/).waitFor();
});

const start = async (...words: string[]): Promise<string> => {
  const told = await editor.loopLs(folder, "run", ...words, "--detach", "--json", "--yes");
  return String((JSON.parse(told) as { runId: string }).runId);
};

const until = async (runId: string, status: string): Promise<Record<string, unknown>> => {
  for (let tries = 0; tries < 200; tries += 1) {
    const { state } = JSON.parse(await editor.loopLs(folder, "runs", "status", runId, "--json")) as { state: Record<string, unknown> };
    if (state["status"] === status) return state;
  }
  throw new Error(`${runId} is not ${status}`);
};

test("a blocked run is answered from the inbox, in words", async () => {
  const runId = await start("stuck", "--goal", "Do it");
  await until(runId, "waiting_approval");
  await window.command("Loop: Answer What Waits...");
  await window.pick("Which port?");
  await window.pick("Try again");
  await window.answer("5433");
  expect((await until(runId, "completed"))["lastAnswer"]).toMatchObject({ answer: "retry", via: "vscode", text: "5433" });
});

test("a paused run is resumed from the inbox", async () => {
  const runId = await start("slow.yaml");
  await editor.loopLs(folder, "runs", "pause", runId);
  await until(runId, "paused");
  await window.command("Loop: Answer What Waits...");
  await window.pick("is paused");
  await window.pick("Resume");
  await window.answer("");
  expect((await until(runId, "completed"))["lastAnswer"]).toMatchObject({ answer: "resume", via: "vscode" });
});
