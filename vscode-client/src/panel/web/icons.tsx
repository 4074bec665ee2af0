// The few signs of the panel as drawings of our own, so that no font has to be loaded. Decoration only:
// whoever uses one says in words what it means.
const PATHS = {
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  play: "M4 2.5v11l9-5.5z",
  stop: "M3.5 3.5h9v9h-9z",
  fork: "M5 3.5a1.5 1.5 0 1 0-2 1.4v6.2a1.5 1.5 0 1 0 1 0V9.2c.5.3 1.2.5 2 .5h2A2 2 0 0 0 10 8.1V7a1.5 1.5 0 1 0-1 0v1a1 1 0 0 1-1 .8H6a2 2 0 0 1-2-2V4.9c.6-.2 1-.8 1-1.4z",
  replay: "M8 3a5 5 0 1 1-4.9 6h1.1A4 4 0 1 0 5 5.4L7 7.3H2v-5l2.3 2.3A5 5 0 0 1 8 3z",
  check: "M13.6 4.2 6.3 12 2.4 8.1l.9-.9 3 3 6.4-6.9z",
  cross: "m8 7.2 3.7-3.7.8.8L8.8 8l3.7 3.7-.8.8L8 8.8l-3.7 3.7-.8-.8L7.2 8 3.5 4.3l.8-.8z",
  dot: "M8 4.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7z",
  ring: "M8 3.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zm0 1.2a3.3 3.3 0 1 0 0 6.6 3.3 3.3 0 0 0 0-6.6z",
  dash: "M3.5 7.4h9v1.2h-9z",
  person: "M8 2.5a2.7 2.7 0 1 1 0 5.4 2.7 2.7 0 0 1 0-5.4zM3 13.5c0-2.8 2.2-4.6 5-4.6s5 1.8 5 4.6z",
  right: "m6 3.5 4.5 4.5L6 12.5l-.8-.8L8.9 8 5.2 4.3z",
  down: "m3.5 6 4.5 4.5L12.5 6l-.8-.8L8 8.9 4.3 5.2z",
  warning: "M8 2 14.5 13.5h-13zM7.4 6v4h1.2V6zm0 5v1.2h1.2V11z",
  diff: "M4 2.5h1.2v3H8v1.2H5.2v3H4v-3H1.2V5.5H4zM8.5 11.3h6v1.2h-6z",
  open: "M3 3h4.5v1.2H4.2v7.6h7.6V8.5H13V13H3zM9 3h4v4h-1.2V5l-4 4-.8-.8 4-4H9z",
  loop: "M4.5 5.5h6l-1.6-1.6.8-.8 3 3-3 3-.8-.8 1.6-1.6h-6a1.8 1.8 0 0 0 0 3.6H6v1.2H4.5a3 3 0 0 1 0-6z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, tone }: { name: IconName; tone?: string }) {
  return (
    <svg class={`icon${tone ? ` tone-${tone}` : ""}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} fill-rule="evenodd" />
    </svg>
  );
}
