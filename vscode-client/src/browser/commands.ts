// The commands that the page of a run asks for, as operations of the engine over HTTP: what the language server does in
// an editor. An argument names facts as commands do, a query as the interface does.
import type { Answer, Argument } from "../answers/settle";
import { call, type Given, type Operation } from "./api";

type Ask = (argument: Argument) => Promise<Answer>;

const idOf = (argument: Argument): string => String(argument.runId ?? "");
const picked = (argument: Argument, ...names: string[]): Record<string, unknown> =>
  Object.fromEntries(names.filter((name) => argument[name] !== undefined).map((name) => [name, argument[name]]));

const partOf = ({ place, afterSeq, untilSeq, cut, limit }: Argument): Given["query"] =>
  ({ place, after: afterSeq, until: untilSeq, cut, limit }) as Given["query"];

const control = (operation: Operation): Ask => (argument) => call(operation, { id: idOf(argument), body: {} });

async function status(argument: Argument): Promise<Answer> {
  const id = idOf(argument);
  const place = argument.place as string | undefined;
  const [told, drawn] = await Promise.all([
    call("status", { id }),
    argument.graph === true ? call("graph", { id, query: { place } }) : undefined,
  ]);
  return told.ok && drawn ? { ...told, graph: drawn.nodes ?? [] } : told;
}

async function history(argument: Argument): Promise<Answer> {
  const id = idOf(argument);
  const { place } = argument as { place?: string };
  const [told, asked] = await Promise.all([
    call("history", { id, query: partOf(argument) }),
    argument.prompts === true ? call("prompts", { id, query: { place } }) : undefined,
  ]);
  return told.ok && asked ? { ...told, ...(asked.ok ? { prompts: asked.prompts } : { noPrompts: asked.message }) } : told;
}

async function runs(argument: Argument): Promise<Answer> {
  const answer = await call("runs", { query: picked(argument, "status", "uri", "limit") as Given["query"] });
  if (!answer.ok) return answer;
  return { ok: true, runs: (answer.loops as { state: unknown }[]).map((row) => row.state) };
}

export const COMMANDS: Record<string, Ask> = {
  "loopLs.status": status,
  "loopLs.history": history,
  "loopLs.runs": runs,
  "loopLs.view": (argument) => call("view", { id: idOf(argument), query: partOf(argument) }),
  "loopLs.events": (argument) => call("events", { id: idOf(argument), query: partOf(argument) }),
  "loopLs.changes": (argument) => call("changes", { id: idOf(argument) }),
  "loopLs.pause": control("pause"),
  "loopLs.resume": control("resume"),
  "loopLs.stop": control("stop"),
  "loopLs.inbox": () => call("inbox"),
  "loopLs.approve": (argument) => call("approve", { id: idOf(argument), body: picked(argument, "loopId", "approved", "decision", "feedback") }),
  "loopLs.answer": (argument) => call("answer", { id: idOf(argument), body: picked(argument, "answer", "text", "question") }),
  "loopLs.fork": (argument) => call("fork", { id: idOf(argument), body: picked(argument, "iteration", "loop", "at", "prompt") }),
  "loopLs.replay": (argument) => call("replay", { id: idOf(argument), body: {} }),
  "loopLs.decideChanges": (argument) => call("decide_changes", { id: idOf(argument), body: picked(argument, "decision") }),
  "loopLs.restore": (argument) => call("restore", { id: idOf(argument), body: picked(argument, "iteration", "loop") }),
};
