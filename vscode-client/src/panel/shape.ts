// What the panel shows and what host and page say to each other: plain values, no editor, no page.
// The host folds facts into these; the page draws them and knows no facts.

export type RowStatus = "running" | "waiting" | "completed" | "failed" | "cancelled" | "skipped";
export type Verdict = "yes" | "no" | "unclear" | "error";

/** A step or a stage inside an iteration. Moments are milliseconds since 1970. */
export interface Stage {
  place: string;
  name: string;
  mode: string;
  status: RowStatus;
  startedAt: number;
  endedAt?: number;
  usd?: number;
  tools?: number;
  /** What it waits for, or what went wrong with it. */
  note?: string;
}

/** A line of the timeline: a loop's heading, an iteration (or round) of it, or a step that lies in none. */
export interface Row {
  /** Its place in the run, which is unique. */
  id: string;
  kind: "loop" | "iteration" | "step";
  parent?: string;
  name: string;
  number: number;
  max?: number;
  attempt: number;
  item?: string;
  status: RowStatus;
  verdict?: Verdict;
  local?: boolean;
  condition?: string;
  reason?: string;
  excerpt: string;
  /** How long the whole output is. */
  length: number;
  usd?: number;
  tokens: number;
  startedAt: number;
  endedAt?: number;
  stages: Stage[];
  note?: string;
  warnings: string[];
  /** The facts of it: from this number to that one. */
  first: number;
  last: number;
}

export interface Change {
  op: string;
  target: string;
  reason: string;
  code?: string;
}

export interface Failure {
  step: string;
  kind: string;
  message: string;
}

/** What an enhance loop made of one round. */
export interface Round {
  number: number;
  row: string;
  status: "running" | "failed" | "converged";
  doing?: string;
  failed: Failure[];
  proposed: Change[];
  rejected: Change[];
  applied: Change[];
  rationale: string;
  diff: string;
  usd?: number;
  cumulativeUsd?: number;
  fixation: boolean;
  reported: boolean;
  refused?: string;
  planned: boolean;
  planProblem?: string;
}

export interface Approval {
  loopId: string;
  iteration?: number;
  place: string;
  output: string;
  /** The project lets people ask for changes. */
  revise: boolean;
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
  caps: { usd?: number; tokens?: number; seconds?: number };
  tokens: number;
  calls: number;
  elapsedMs: number;
  ended: boolean;
  working: boolean;
  recovered?: string;
  source?: string;
  approvals: Approval[];
  /** An enhance loop that waits for a person: between rounds, or because its edit is not in the file. */
  choice?: { kind: "between_rounds" | "conflict"; round: number; why: string };
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

export interface NodeState {
  status: RowStatus;
  note?: string;
}

/** Something that keeps the panel from being up to date, with the way out. */
export interface Banner {
  tone: "wait" | "bad";
  text: string;
  action?: { title: string; act: Act };
}

export type Tab = "round" | "output" | "question" | "prompt" | "events" | "graph";

export type Act =
  | { verb: "pause" | "resume" | "stop" | "replay" | "openFile" | "again" | "restartServer" | "showLog" }
  | { verb: "fork"; row: string }
  | { verb: "approve"; loopId: string; approved: boolean; decision?: "revise"; feedback?: string }
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

export type ToPage =
  | ({ type: "all"; select?: string } & All)
  | ({ type: "change"; select?: string } & Partial<Omit<All, "banner">> & { banner?: Banner | null })
  | { type: "detail"; detail: Detail };

export type ToHost =
  | { type: "ready" }
  | { type: "act"; act: Act }
  | { type: "detail"; row: string; tab: Tab }
  | { type: "drawn"; rows: number; ms: number };
