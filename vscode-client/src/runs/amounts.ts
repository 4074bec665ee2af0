// Amounts that the editor counts by itself (a clock that ticks, a sum of runs), written as `loop_ls/contract/amounts.py`
// writes them: both are tested with `tests/contract/amounts.json`. No page, no editor.

/** `$0.0012`, `$0.031`, `$0.50`, `$1,234.50`; nothing where no price is known. */
export function money(usd: number | undefined): string {
  if (usd === undefined || !Number.isFinite(usd)) return "";
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "<$0.0001";
  const written = usd.toFixed(usd < 0.01 ? 4 : usd < 1 ? 3 : 2).replace(/(\.\d\d)(\d*?)0*$/, "$1$2");
  return `$${written.replace(/\B(?=(\d{3})+\.)/g, ",")}`;
}

/** `00:41`, `1:02:03`: how long a run has worked. */
export function clock(milliseconds: number): string {
  const total = Math.max(0, Math.floor(milliseconds / 1000));
  const two = (number: number): string => String(number).padStart(2, "0");
  const [hours, minutes, seconds] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  return hours ? `${hours}:${two(minutes)}:${two(seconds)}` : `${two(minutes)}:${two(seconds)}`;
}

/** `waiting until 11:00`: a paused run that goes on by itself then. */
export const waitingUntil = (resumesAt: string, now = new Date()): string => `waiting until ${clockTime(resumesAt, now)}`;

/** `11:00`, with the day where it is not today. */
export function clockTime(moment: string, now = new Date()): string {
  const at = new Date(moment);
  const two = (number: number): string => String(number).padStart(2, "0");
  const day = at.toDateString() === now.toDateString() ? "" : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} `;
  return `${day}${two(at.getHours())}:${two(at.getMinutes())}`;
}

const UNITS = [
  { long: "day", short: "d", size: 86_400 },
  { long: "hour", short: "h", size: 3600 },
  { long: "minute", short: "min", size: 60 },
] as const;

/** `3 min ago`; full: `3 minutes ago`. */
export function ago(seconds: number, full = false): string {
  for (const unit of UNITS) {
    const number = Math.floor(seconds / unit.size);
    if (number >= 1) return `${full ? count(number, unit.long) : `${number} ${unit.short}`} ago`;
  }
  return "just now";
}

/** `1 iteration`, `1,200 calls`. */
export const count = (number: number, noun: string): string => `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
