// What a run may cost at most, as the lens above its loop says it: for the head of its panel.
import type { FileEstimate } from "../contract/answers";
import type { Server } from "../part";
import type { RunState } from "../runs/state";

export interface Estimate {
  calls?: number;
  usd?: number;
}

/** Nothing for a run that calls no model, and for one whose file cannot be estimated any more. */
export async function estimateOf(server: Server, state: RunState): Promise<Estimate | undefined> {
  const { uri, target } = state;
  if (!uri || state.mock === true || state.source?.kind === "replay") return undefined;
  const answer = await server.ask("loopLs.estimate", { uri, ...(target ? { target } : {}) }).catch(() => undefined);
  if (!answer?.ok) return undefined;
  const { calls, usd } = answer as unknown as FileEstimate;
  const most = { calls: calls?.max ?? undefined, usd: usd?.max || undefined };
  return most.calls === undefined && most.usd === undefined ? undefined : most;
}
