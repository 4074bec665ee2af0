// What the run has spent and may spend: money, tokens, time. A bar stands only where there is a limit.
import type { ComponentChildren } from "preact";
import type { Head } from "../../shape";
import { clock, clockTime, count, money } from "../../../runs/amounts";

function Meter({ label, value, most, text, children }: { label: string; value: number; most?: number; text: string; children: ComponentChildren }) {
  const part = most ? Math.min(1, value / most) : 0;
  const state = part >= 1 ? "full" : part >= 0.8 ? "near" : "";
  return (
    <div class={`meter ${state}`}>
      <span class="said">{children}</span>
      {most ? (
        <svg class="bar" role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={most} aria-valuenow={Math.min(value, most)} aria-valuetext={text} viewBox="0 0 100 4" preserveAspectRatio="none">
          <rect class="track" width="100" height="4" rx="2" />
          <rect class="fill" width={Math.max(part * 100, value > 0 ? 1.5 : 0)} height="4" rx="2" />
        </svg>
      ) : null}
    </div>
  );
}

export function Budget({ head, elapsedMs }: { head: Head; elapsedMs: number }) {
  const { caps } = head;
  const cost = head.costUsd ?? 0;
  const spent = head.costUsd === undefined && !caps.usd ? (head.unpriced ? "unknown price" : "$0") : money(cost);
  const costText = `${spent}${head.simulated ? " (simulated)" : ""}${caps.usd ? ` of ${money(caps.usd)}` : ""}`;
  const tokenText = caps.tokens ? `${head.tokens.toLocaleString("en-US")} of ${count(caps.tokens, "token")}` : count(head.tokens, "token");
  const timeText = caps.seconds ? `${clock(elapsedMs)} of ${clock(caps.seconds * 1000)}` : clock(elapsedMs);
  return (
    <section class="budget" aria-label="Budget">
      <Meter label="cost" value={cost} most={caps.usd} text={costText}>
        <b>{spent}</b>
        {head.simulated ? " (simulated)" : ""}
        {caps.usd ? ` of ${money(caps.usd)}` : ""}
        {head.estimate?.usd ? <span title="Estimate of the whole run">{` (estimate: at most ${money(head.estimate.usd)})`}</span> : null}
        {head.unpriced && head.costUsd !== undefined ? " + calls with an unknown price" : ""}
      </Meter>
      <Meter label="tokens" value={head.tokens} most={caps.tokens} text={tokenText}>
        <b>{head.tokens.toLocaleString("en-US")}</b>
        {caps.tokens ? ` of ${count(caps.tokens, "token")}` : ` token${head.tokens === 1 ? "" : "s"}`}
      </Meter>
      <Meter label="time" value={elapsedMs / 1000} most={caps.seconds} text={timeText}>
        <b title="Time at work, without pauses">{clock(elapsedMs)}</b>
        {head.deadline && !head.ended ? `, until ${clockTime(head.deadline)}` : ""}
        {caps.seconds ? ` of ${clock(caps.seconds * 1000)}` : ""}
      </Meter>
      <div class="meter">
        <span class="said">
          <b>{head.calls.toLocaleString("en-US")}</b> {head.estimate?.calls ? `of at most ${count(head.estimate.calls, "call")}` : count(head.calls, "call").replace(/^[\d,]+ /, "")}
        </span>
      </div>
    </section>
  );
}
