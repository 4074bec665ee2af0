// The lines of the tree of runs, from what the store holds: pure, so that what is shown can be tested
// without a window. Groups come in the order in which people act: what waits for them, what runs, the rest.
import { hasEnded, isPossible, isRoleLoop, questionsOf, type RunState } from "../../runs/state";
import { money } from "../../runs/amounts";
import { lineOfRun, nameOf, natureOf, progressOf, since } from "../../runs/words";

export type Grouping = "status" | "file";

export interface GroupNode {
  kind: "group";
  id: string;
  label: string;
  icon: string;
  runs: RunNode[];
  /** How many of its runs are not shown. */
  hidden: number;
}

export interface RunNode {
  kind: "run";
  runId: string;
}

export interface MoreNode {
  kind: "more";
  label: string;
}

export interface GoneNode {
  kind: "gone";
}

export type Node = GroupNode | RunNode | MoreNode | GoneNode;

const GROUPS = [
  ["waiting", "Waiting for you", "bell-dot"],
  ["running", "Running", "sync"],
  ["done", "Done", "history"],
] as const;

const groupOf = (state: RunState): string => {
  if (hasEnded(state)) return "done";
  return waitsForPerson(state) ? "waiting" : "running";
};

/** Whether nothing happens before somebody decides. */
export const waitsForPerson = (state: RunState): boolean =>
  !hasEnded(state) && (questionsOf(state).length > 0 || state.status === "paused" || state.status === "interrupted");

/** At most `most` runs in their groups; groups that have none are left out. */
export function groupsOf(states: readonly RunState[], grouping: Grouping, most: number): GroupNode[] {
  const groups = new Map<string, GroupNode>();
  if (grouping === "status") {
    for (const [id, label, icon] of GROUPS) groups.set(id, { kind: "group", id, label, icon, runs: [], hidden: 0 });
  }
  let shown = 0;
  for (const state of inOrder(states)) {
    const id = grouping === "status" ? groupOf(state) : fileOf(state);
    const group = groups.get(id) ?? { kind: "group", id, label: id, icon: "file", runs: [], hidden: 0 };
    groups.set(id, group);
    if (hasEnded(state) && ++shown > most) group.hidden += 1;
    else group.runs.push({ kind: "run", runId: state.runId });
  }
  return [...groups.values()].filter((group) => group.runs.length > 0 || group.hidden > 0);
}

/** What goes on first: a page must never hide it. */
const inOrder = (states: readonly RunState[]): RunState[] => [
  ...states.filter((state) => !hasEnded(state)),
  ...states.filter(hasEnded),
];

/** The file as people name it: its path in the folder, else its name. */
export const fileOf = (state: RunState): string =>
  state.path ?? (state.uri ? decodeURIComponent(state.uri.slice(state.uri.lastIndexOf("/") + 1)) : "(no file)");

/** `3/5 · 2 NO · $0.031 · 2 min ago`, `replay · 3/5 · condition met`: what stands behind the name. The line of the lens without what the icon
 * and the counter say already: a side bar is narrow. */
export function describe(state: RunState, now: number): string {
  const line = (state.said?.line ?? lineOfRun(state)).replace(/^iteration (?=\d)/, "");
  const short = line.replace(/ (?:in|after) (?:iteration \d+|\d+ iterations?)/, "");
  const progress = hasEnded(state) && !line.includes("/") ? progressOf(state) : "";
  const when = since(hasEnded(state) ? state.endedAt : state.startedAt, now, false);
  return [...natureOf(state), progress, short, state.mock ? "" : money(state.costUsd), when].filter(Boolean).join(" · ");
}

/** What the menus ask about: `run`, and each thing that can be done with it now. */
export function contextOf(state: RunState): string {
  const verbs = (["pause", "resume", "stop"] as const).filter((verb) => isPossible(verb, state));
  const asks = questionsOf(state).length > 0 ? ["decide"] : [];
  const ended = hasEnded(state) ? ["ended"] : [];
  const apart = state.worktree ? ["worktree"] : [];
  const stages = isRoleLoop(state) ? ["stages"] : [];
  return ["run", ...verbs, ...asks, ...ended, ...apart, ...stages].join(" ");
}

/** Whether a run has all words of a filter in its name, file, line or id. */
export function matches(state: RunState, filter: string): boolean {
  const text = [nameOf(state), state.name, fileOf(state), lineOfRun(state), state.status, ...natureOf(state), state.runId].join(" ").toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
