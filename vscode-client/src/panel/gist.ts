// One fact as one line of the list of events. Kinds that need no words say their text, if they have one.
import { VERDICTS } from "../contract/endings";
import { money } from "../runs/amounts";
import type { RunEvent } from "../runs/state";
import { excerpt } from "../runs/words";
import type { FactLine } from "./shape";

export function lineOfFact(fact: RunEvent): FactLine {
  return {
    seq: fact.seq ?? 0,
    at: Date.parse(fact.at ?? "") || 0,
    kind: fact.kind,
    place: typeof fact.place === "string" ? fact.place : "",
    gist: gistOf(fact),
  };
}

function gistOf(fact: RunEvent): string {
  switch (fact.kind) {
    case "judged":
      return `${VERDICTS[fact.verdict ?? "unclear"] ?? fact.verdict}${fact.local === true ? " (decided locally)" : ""} ${excerpt(fact.answer)}`.trim();
    case "call":
      return callOf(fact);
    case "tool_called":
      return [fact.source, fact.tool, excerpt(String(fact.arguments ?? ""), 80), fact.failed === true ? "failed" : ""].filter(Boolean).join(" ");
    case "retrying":
      return `try ${String(fact.attempt ?? "")}: ${messageOf(fact.because)}`;
    case "completed":
    case "cancelled":
      return String(fact.reason ?? fact.cause ?? "").replaceAll("_", " ");
    case "op_rejected":
      return `${String(fact.op ?? "")} ${String(fact.target ?? "")}: ${String(fact.message ?? "")}`;
    case "report_ready":
      return fact.converged === true ? "nothing failed" : `${Array.isArray(fact.failures) ? fact.failures.length : 0} failed`;
    default:
      return messageOf(fact.error) || firstText(fact);
  }
}

function callOf(fact: RunEvent): string {
  const tokens = (fact.tokens ?? {}) as { input?: number; output?: number };
  const usd = typeof fact.usd === "number" ? ` ${money(fact.usd)}` : "";
  const failed = messageOf(fact.error);
  return `${String(fact.provider ?? "")}/${String(fact.model ?? "")} ${tokens.input ?? 0}+${tokens.output ?? 0} tokens${usd}${failed ? `, failed: ${failed}` : ""}`;
}

function firstText(fact: RunEvent): string {
  for (const name of ["output", "message", "learning", "condition", "rationale", "feedback", "finalOutput", "because"]) {
    const value = fact[name];
    if (typeof value === "string" && value) return excerpt(value, 140);
  }
  return "";
}

function messageOf(error: unknown): string {
  if (typeof error === "string") return excerpt(error);
  const message = (error as { message?: unknown } | undefined)?.message;
  return typeof message === "string" ? excerpt(message) : "";
}
