// The one place that holds runs on this side: fed by notifications and by lists, read by every view,
// so that no two of them can disagree. Folds nothing: the server sends the state.
import { Emitter } from "./emitter";
import type { RunEvent, RunState, ViewNotice } from "./state";

export interface Change {
  state: RunState;
  /** What was known of it before; undefined for a run that is new here. */
  before: RunState | undefined;
}

/** Moments of one form: as texts they are in their order. */
const newestFirst = (left: RunState, right: RunState): number => {
  const [one = "", other = ""] = [left.startedAt, right.startedAt];
  return one === other ? 0 : one < other ? 1 : -1;
};

export class RunStore {
  private readonly known = new Map<string, RunState>();
  private readonly changed = new Emitter<Change>();
  private readonly happened = new Emitter<RunEvent>();
  private readonly removed = new Emitter<string>();

  /** After each fact, and for each run of a list that differs from what was known. */
  readonly onDidChange = this.changed.event;
  /** Each fact and each piece of streamed text, as it arrives; a view that opens later asks the server for the rest. */
  readonly onDidHappen = this.happened.event;
  readonly onDidRemove = this.removed.event;
  private readonly viewed = new Emitter<ViewNotice>();
  /** What is new in the view of a run that somebody asked to follow. */
  readonly onDidView = this.viewed.event;
  private readonly engine = new Emitter<boolean>();
  /** The engine is there (true), or has been away for a while. */
  readonly onDidChangeEngine = this.engine.event;
  private gone = false;

  /** Whether an engine that was there is gone; runs wait for it. */
  get engineGone(): boolean {
    return this.gone;
  }

  engineIs(there: boolean): void {
    this.gone = !there;
    this.engine.fire(there);
  }

  get(runId: string): RunState | undefined {
    return this.known.get(runId);
  }

  /** All known runs, the newest first. */
  all(): RunState[] {
    return [...this.known.values()].sort(newestFirst);
  }

  /** Those that fit, the newest first. Views ask after each change: what is left out is not put in order. */
  where(fits: (state: RunState) => boolean): RunState[] {
    return [...this.known.values()].filter(fits).sort(newestFirst);
  }

  /** The newest one that fits. */
  newest(fits: (state: RunState) => boolean): RunState | undefined {
    let found: RunState | undefined;
    for (const state of this.known.values()) if (fits(state) && (!found || newestFirst(state, found) < 0)) found = state;
    return found;
  }

  take(state: RunState): void {
    const before = this.known.get(state.runId);
    if (before?.lastSeq !== undefined && state.lastSeq !== undefined && state.lastSeq < before.lastSeq) return;
    this.known.set(state.runId, state);
    this.changed.fire({ state, before });
  }

  happen(event: RunEvent): void {
    if (event.kind === "deleted") return this.remove(event.runId);
    this.happened.fire(event);
  }

  view(notice: ViewNotice): void {
    this.viewed.fire(notice);
  }

  remove(runId: string): void {
    if (this.known.delete(runId)) this.removed.fire(runId);
  }

  dispose(): void {
    this.changed.dispose();
    this.happened.dispose();
    this.removed.dispose();
    this.viewed.dispose();
    this.engine.dispose();
  }
}
