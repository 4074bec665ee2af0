// The progress ring with its badge: how far the loop is, at one glance. It pulses when a new pass begins.
import type { Head } from "../../shape";
import { badge, progressLabel } from "../words";

const RADIUS = 24;
const AROUND = 2 * Math.PI * RADIUS;

export function Ring({ head }: { head: Head }) {
  const part = head.max ? Math.min(1, head.iteration / head.max) : head.iteration ? 1 : 0;
  const shown = badge(head);
  const range = head.max ? { "aria-valuemin": 0, "aria-valuemax": head.max, "aria-valuenow": Math.min(head.iteration, head.max) } : {};
  return (
    <div
      class={`ring tone-${head.tone}${head.working ? " working" : ""}`}
      role="progressbar"
      aria-label={progressLabel(head)}
      aria-valuetext={progressLabel(head)}
      {...range}
    >
      <svg viewBox="0 0 60 60" aria-hidden="true">
        <circle class="track" cx="30" cy="30" r={RADIUS} />
        <circle
          class="arc"
          cx="30"
          cy="30"
          r={RADIUS}
          transform="rotate(-90 30 30)"
          stroke-dasharray={`${AROUND}`}
          stroke-dashoffset={`${AROUND * (1 - part)}`}
        />
        {head.working ? <circle key={head.iteration} class="pulse" cx="30" cy="30" r={RADIUS} /> : null}
      </svg>
      <span class={`badge${shown.length > 7 ? " longest" : shown.length > 4 ? " long" : ""}`}>{shown}</span>
    </div>
  );
}
