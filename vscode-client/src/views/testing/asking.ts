// The question before runs of the Testing view that call models: people press "Run All Tests" without a thought.
import * as vscode from "vscode";
import type { FileEstimate } from "../../contract/answers";
import type { Server } from "../../part";
import { count, money } from "../../runs/amounts";
import type { Target } from "./items";

const RUN = "Run";

/** What a start or an estimate of it names. */
export const wanted = (target: { kind: string; name: string }) =>
  target.kind === "workflow" ? { kind: target.kind } : { kind: target.kind, name: target.name };

/** Asks once for all of them, with the most that they cost together. */
export async function mayRun(server: Server, targets: readonly Target[]): Promise<boolean> {
  const ask = ({ uri, ...target }: Target) => server.ask("loopLs.estimate", { uri: uri.toString(), target: wanted(target) });
  const answers = await Promise.all(targets.map((target) => ask(target).catch(() => undefined)));
  const estimates = answers.map((answer) => (answer?.ok ? (answer as unknown as FileEstimate) : undefined));
  const detail = bound(estimates);
  const question = `Run ${count(targets.length, "loop")} with models?`;
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, RUN)) === RUN;
}

/** `At most 24 calls and $0.30.`, and what is not known of it. */
export function bound(estimates: readonly (FileEstimate | undefined)[]): string {
  const most = estimates.map((one) => one?.calls.max ?? undefined).filter((calls) => calls !== undefined);
  const priced = estimates.flatMap((one) => (one?.usd ? [one.usd.max] : []));
  const unpriced = estimates.length - priced.length;
  const calls = most.length === estimates.length ? count(sum(most), "call") : "";
  const usd = priced.length ? money(sum(priced)) : "";
  if (!unpriced) return `At most ${[calls, usd].filter(Boolean).join(" and ")}.`;
  const known = [calls, usd && `${usd} for those with a known price`].filter(Boolean).join(", ");
  const unknown = `The cost of ${unpriced === estimates.length && unpriced === 1 ? "it" : `${unpriced} of them`} is not known.`;
  return known ? `At most ${known}. ${unknown}` : unknown;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
