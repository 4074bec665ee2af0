// What the panel shows and what host and page say to each other: plain values, no editor, no page.
// Rows, rounds and nodes come from the engine as they are; nothing here knows facts.
import type { Estimate } from "./estimate";
import type { ChangeView, NodeView, RoundView, RowView, StageView } from "../contract/answers";

export type Row = RowView;
export type RowStatus = Row["status"];
export type Verdict = NonNullable<Row["verdict"]>;
export type Stage = StageView;
export type Round = RoundView;
export type Change = ChangeView;
export type NodeState = NodeView;

export interface Approval {
  loopId: string;
  iteration?: number;
  place: string;
  output: string;
  /** The project lets people ask for changes. */
  revise: boolean;
  /** It is about protected files that an agent touched: they can be put back. */
  touched: boolean;
  /** A stage or the loop cannot continue without an answer. */
  blocked: boolean;
}

export interface Head {
  runId: string;
  name: string;
  file: string;
  format: string;
  unit: "iteration" | "round";
  status: string;
  reason?: string;
  /** How it stands, as people say it. */
  sentence: string;
  tone: "going" | "good" | "limit" | "bad" | "still";
  because?: string;
  error?: { message: string; hint: string };
  label?: string;
  iteration: number;
  max?: number;
  costUsd?: number;
  unpriced: boolean;
  /** Something is judged after each iteration: not where a person decides, or only the number counts. */
  judged: boolean;
  /** Scripts gave the answers: nobody is paid the cost. */
  simulated: boolean;
  caps: { usd?: number; tokens?: number; seconds?: number };
  tokens: number;
  calls: number;
  /** The most that it may call and cost, while it goes on. */
  estimate?: Estimate;
  /** Time at work, without pauses. */
  elapsedMs: number;
  /** When the time of the loop is up. */
  deadline?: string;
  ended: boolean;
  working: boolean;
  recovered?: string;
  source?: string;
  approvals: Approval[];
  /** An enhance loop that waits for a person: between rounds, or because its edit is not in the file (`why`), or stays out. */
  choice?: { kind: "between_rounds" | "conflict" | "rejected"; round: number; why: string };
  /** What waits for a decision after a run in a worktree of its own, as a line. */
  changes?: string;
  /** Its branch can be set back to an iteration. */
  restorable?: boolean;
}

/** Text that is being written just now. */
export interface Live {
  place: string;
  row: string;
  label: string;
  text: string;
}

export interface GraphNode {
  name: string;
  kind: string;
  mode: string;
  needs: string[];
  condition?: string;
  maxIterations?: number;
  workflow?: string;
  inner?: GraphNode[];
}

/** Something that keeps the panel from being up to date, with the way out. */
export interface Banner {
  tone: "wait" | "bad";
  text: string;
  action?: { title: string; act: Act };
}

export type Tab = "round" | "output" | "question" | "prompt" | "table" | "events" | "graph";

export type Act =
  | { verb: "pause" | "resume" | "stop" | "replay" | "openFile" | "again" | "restartServer" | "showLog" }
  | { verb: "fork" | "restore"; row: string }
  | { verb: "decideChanges"; decision: "apply" | "keep" | "discard" }
  | { verb: "showChanges" }
  | { verb: "ask"; at: string; prompt: string }
  | { verb: "approve"; loopId: string; approved: boolean; decision?: "revise" | "restore" | "retry"; feedback?: string }
  | { verb: "continue" | "skip" | "giveUp" }
  | { verb: "diff"; left: string; right: string }
  | { verb: "show"; row: string; what: "output" | "question" | "prompt" | "diff" };

export interface Text {
  text: string;
  /** How long it really is, where `text` is only its beginning. */
  whole?: number;
}

export interface Prompt {
  place: string;
  who: string;
  system?: string;
  prompt: Text;
  /** A person put it in place of the one of the file. */
  changed?: boolean;
  /** A new run may ask another one in its place. */
  changeable?: boolean;
  /** What came back in the end; a call under way has none. */
  answer?: Text;
}

export interface FactLine {
  seq: number;
  at: number;
  kind: string;
  place: string;
  gist: string;
}

export interface Detail {
  row: string;
  tab: Tab;
  problem?: string;
  output?: Text;
  error?: string;
  stages?: { name: string; status: string; output: Text }[];
  question?: { question?: Text; condition: string; answer: string; verdict?: string; local: boolean };
  prompts?: Prompt[];
  facts?: FactLine[];
  /** Of an enhance loop's round, whose text is its own. */
  graph?: GraphNode[];
}

export interface All {
  head?: Head;
  rows: Row[];
  rounds: Round[];
  live: Live[];
  graph: GraphNode[];
  nodes: Record<string, NodeState>;
  banner?: Banner;
  /** Facts are still being read. */
  reading: boolean;
}

/** What the host wants to be looked at: a row, a tab, or both; a tab alone is about the newest row. */
export interface Wish {
  select?: string;
  tab?: Tab;
}

export type ToPage =
  | ({ type: "all" } & Wish & All)
  | ({ type: "change" } & Wish & Partial<Omit<All, "banner">> & { banner?: Banner | null })
  | { type: "detail"; detail: Detail };

export type ToHost =
  | { type: "ready" }
  | { type: "act"; act: Act }
  | { type: "detail"; row: string; tab: Tab }
  | { type: "drawn"; rows: number; ms: number };
