// The engine's operations over HTTP, by their names in the contract. A refusal and an engine that is gone are answers
// like those of the language server; only a token that holds no more is told besides: nothing else helps then.
import type { Answer } from "../answers/settle";
import { OPERATIONS } from "../contract/operations";
import { forget, session } from "./session";

export type Operation = keyof typeof OPERATIONS;

export interface Given {
  id?: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: object;
}

const GONE: Answer = { ok: false, code: "engine_not_ready", message: "The engine is not responding." };

let signedOut: () => void = () => undefined;

/** `hear` is told when the token holds no more. */
export const onSignedOut = (hear: () => void): void => {
  signedOut = hear;
};

export function addressOf(operation: Operation, { id, query }: Given = {}): string {
  const path = OPERATIONS[operation].path.replace("{id}", encodeURIComponent(id ?? ""));
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) asked.set(name, String(value));
  return asked.size ? `${path}?${asked}` : path;
}

export function headers(): Record<string, string> {
  return { Authorization: `Bearer ${session()?.token ?? ""}`, "Loop-Ls-Client": "browser" };
}

export async function call(operation: Operation, given: Given = {}): Promise<Answer> {
  const { method } = OPERATIONS[operation];
  const body = given.body === undefined ? undefined : JSON.stringify(given.body);
  const more: Record<string, string> = body === undefined ? {} : { "Content-Type": "application/json" };
  const options = { method, body, headers: { ...headers(), ...more }, credentials: "omit" as const };
  const response = await fetch(addressOf(operation, given), options).catch(() => undefined);
  if (!response) return GONE;
  if (response.status === 401) loseToken();
  const said = (await response.json().catch(() => undefined)) as Record<string, unknown> | undefined;
  if (typeof said !== "object" || said === null) return { ...GONE, message: `The engine returned an unreadable response (${response.status}).` };
  if (response.ok) return { ok: true, ...said };
  const details = typeof said.details === "object" ? said.details : {};
  return { ...details, ok: false, code: String(said.code), message: String(said.error), hint: String(said.hint ?? "") };
}

export function loseToken(): void {
  forget();
  signedOut();
}
