// A record with very many runs, made in seconds: one real run, exported, and put in again under other names and
// times by the engine's own import.
import { readFileSync } from "node:fs";
import * as path from "node:path";
import type { Editor } from "./inEditor";

interface Exported {
  runId: string;
  facts: { at: number; kind: string; body: Record<string, unknown> }[];
}

const MINUTE = 60;

/** `count` runs of the loop `compose` in haiku.yaml, one older than the other by a minute; `named`: other loops by their number. */
export async function record(editor: Editor, folder: string, count: number, named: Record<number, string> = {}): Promise<void> {
  const started = await editor.loopLs(folder, "run", "haiku.yaml", "--loop", "compose", "--input", "a frog", "--yes", "--json");
  const { runs } = JSON.parse(await editor.loopLs(folder, "runs", "--json")) as { runs: { runId: string }[] };
  const [first] = runs;
  if (!first) throw new Error(`nothing ran: ${started}`);
  const run = JSON.parse(await editor.loopLs(folder, "runs", "export", first.runId)) as Exported;
  const { port, token } = JSON.parse(readFileSync(path.join(editor.server.dataDir, "engine.json"), "utf8")) as { port: number; token: string };
  const put = async (number: number): Promise<void> => {
    const target = named[number] === undefined ? {} : { target: { kind: "loop", name: named[number] } };
    const facts = run.facts.map(({ at, kind, body }) => ({ at: at - number * MINUTE, kind, body: kind === "run_started" ? { ...body, ...target } : body }));
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/import`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ ...run, runId: `copy${String(number).padStart(8, "0")}`, facts }),
    });
    if (!response.ok) throw new Error(`run ${number} was not taken in: ${response.status} ${await response.text()}`);
  };
  // The oldest first, as they would have happened.
  for (let oldest = count - 1; oldest > 0; oldest -= 10) {
    await Promise.all(Array.from({ length: Math.min(10, oldest) }, (_, index) => put(oldest - index)));
  }
}
