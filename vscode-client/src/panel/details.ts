// What the tabs of an iteration show, asked for when somebody looks: whole texts stay with the server until then,
// and of a very long one only the beginning comes.
import type { Answer } from "../answers/settle";
import type { Server } from "../part";
import type { RunEvent } from "../runs/state";
import { lineOfFact } from "./gist";
import type { Detail, GraphNode, Row, Tab, Text } from "./shape";

/** Characters of one text that the page gets. */
export const SHOWN = 60_000;
const FACTS = 300;

export type Json = Record<string, unknown>;

export async function detailOf(server: Server, runId: string, row: Row, tab: Tab): Promise<Detail> {
  const base = { row: row.id, tab };
  switch (tab) {
    case "round":
    case "table":
      return base;
    case "graph":
      return { ...base, graph: await graphAt(server, runId, row) };
    case "events":
      return { ...base, ...(await factsOf(server, runId, row)) };
    case "prompt":
      return { ...base, ...(await promptsOf(server, runId, row)) };
    case "output":
    case "question": {
      const told = await historyOf(server, runId, row, SHOWN);
      return { ...base, ...("problem" in told ? told : tab === "output" ? outputOf(told.row) : questionOf(told.row)) };
    }
  }
}

/** The row as the engine tells it, whole or cut. */
export async function historyOf(server: Server, runId: string, row: Row, cut?: number): Promise<{ row: Json } | { problem: string }> {
  const place = row.id.replace(/#loop$/, "");
  const part = { afterSeq: Math.max(0, row.first - 1), untilSeq: row.last };
  const answer = await server.ask("loopLs.history", { runId, place, ...part, ...(cut ? { cut } : {}) }).catch(() => undefined);
  if (!answer?.ok) return { problem: problemOf(answer) };
  const [found] = [...list(answer.history), ...list(answer.stages)];
  return found ? { row: found } : { problem: "Nothing to show yet." };
}

/** What the workflow consisted of in the round of this row; nothing where that is not known. */
async function graphAt(server: Server, runId: string, row: Row): Promise<GraphNode[] | undefined> {
  const answer = await server.ask("loopLs.status", { runId, graph: true, place: row.id }).catch(() => undefined);
  return answer?.ok && Array.isArray(answer.graph) ? (answer.graph as GraphNode[]) : undefined;
}

export async function promptsAt(server: Server, runId: string, row: Row): Promise<Json[] | string> {
  const part = { afterSeq: Math.max(0, row.first - 1), untilSeq: row.last, cut: 1000 };
  const answer = await server.ask("loopLs.history", { runId, place: row.id, prompts: true, ...part }).catch(() => undefined);
  if (!answer?.ok) return problemOf(answer);
  return Array.isArray(answer.prompts) ? list(answer.prompts) : String(answer.noPrompts ?? "No prompts to show.");
}

function outputOf(row: Json): Partial<Detail> {
  const stages = list(row.stages).map((stage) => ({
    name: String(stage.name ?? ""),
    status: String(stage.status ?? ""),
    output: textOf(stage, "output"),
  }));
  return { output: textOf(row, "output"), error: messageOf(row.error), stages: stages.filter((stage) => stage.output.text) };
}

function questionOf(row: Json): Partial<Detail> {
  const question = {
    question: row.question === undefined ? undefined : textOf(row, "question"),
    condition: String(row.condition ?? ""),
    answer: String(row.answer ?? ""),
    verdict: row.verdict === undefined ? undefined : String(row.verdict),
    local: row.local === true,
  };
  return { question };
}

async function promptsOf(server: Server, runId: string, row: Row): Promise<Partial<Detail>> {
  const found = await promptsAt(server, runId, row);
  if (typeof found === "string") return { problem: found };
  return {
    prompts: found.map((one) => ({
      place: String(one.place ?? ""),
      who: `${String(one.provider ?? "")}/${String(one.model ?? "")}`,
      system: typeof one.system === "string" ? one.system.slice(0, SHOWN) : undefined,
      prompt: shortened(String(one.prompt ?? "")),
      changed: one.changed === true || undefined,
      changeable: (one.changeable === true && String(one.prompt ?? "").length <= SHOWN) || undefined,
      answer: typeof one.answer === "string" ? shortened(one.answer) : undefined,
    })),
  };
}

async function factsOf(server: Server, runId: string, row: Row): Promise<Partial<Detail>> {
  const limit = Math.min(FACTS, row.last - row.first + 1);
  const argument = { runId, afterSeq: Math.max(0, row.first - 1), limit: Math.max(1, limit), cut: 400 };
  const answer = await server.ask("loopLs.events", argument).catch(() => undefined);
  if (!answer?.ok) return { problem: problemOf(answer) };
  const place = row.id.replace(/#loop$/, "");
  const facts = (list(answer.events) as unknown as RunEvent[]).map(lineOfFact);
  return { facts: facts.filter((fact) => fact.place === place || fact.place.startsWith(`${place}/`) || fact.place.startsWith(`${place}:`)) };
}

export function shortened(text: string): Text {
  return text.length > SHOWN ? { text: text.slice(0, SHOWN), whole: text.length } : { text };
}

function textOf(row: Json, name: string): Text {
  const text = typeof row[name] === "string" ? (row[name] as string) : "";
  const whole = (row.lengths as Record<string, number> | undefined)?.[name];
  return whole === undefined ? { text } : { text, whole };
}

function problemOf(answer: Answer | undefined): string {
  return answer ? [answer.message, answer.hint].filter(Boolean).join(" ") || "The server rejected the request." : "The server is not responding.";
}

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const messageOf = (error: unknown): string | undefined => (error as { message?: string } | undefined)?.message;
