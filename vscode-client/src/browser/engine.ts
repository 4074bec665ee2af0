// The engine as the modules of runs know a server: commands that are asked, and runs that are kept up to date by what
// happens. A state is asked for once for all facts of a moment.
import type { Answer, Argument } from "../answers/settle";
import type { ViewPage } from "../contract/answers";
import type { Server, ServerStatus } from "../part";
import { Emitter } from "../runs/emitter";
import { RunList } from "../runs/list";
import type { RunEvent, RunState } from "../runs/state";
import { RunStore } from "../runs/store";
import { COMMANDS } from "./commands";
import { call } from "./api";
import { Stream } from "./stream";

const GATHER = 120;
/** Runs that are asked for one by one; of more the list is read. */
const FEW = 12;

export class Engine implements Server {
  readonly runs = new RunStore();
  readonly status: ServerStatus = "ready";
  readonly list: RunList;
  private readonly statuses = new Emitter<ServerStatus>();
  readonly onDidChangeStatus = this.statuses.event as Server["onDidChangeStatus"];
  private readonly told = new Emitter<string>();
  /** A sentence for whoever clicked. */
  readonly onTold = this.told.event;
  private readonly linked = new Emitter<boolean>();
  readonly onLinked = this.linked.event;
  private readonly stream = new Stream();
  private readonly changed = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** The run that is looked at, and the fact up to which its view is here. */
  private followed: { runId: string; seq: number } | undefined;

  constructor() {
    this.list = new RunList(this, this.runs);
    this.stream.onEvent((event) => this.hear(event));
    this.stream.onTurn((up) => this.turn(up));
  }

  start(): void {
    this.stream.start();
    this.list.want();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.stream.stop();
    this.list.dispose();
  }

  tell(sentence: string): void {
    this.told.fire(sentence);
  }

  async ask(command: string, argument: Argument): Promise<Answer | undefined> {
    const answer = await COMMANDS[command]?.(argument);
    if (command === "loopLs.view" && answer?.ok && argument.follow === true) {
      this.followed = { runId: String(argument.runId), seq: (answer as unknown as ViewPage).seq };
    }
    return answer;
  }

  async run(command: string, argument: Argument): Promise<Answer | undefined> {
    const answer = await this.ask(command, argument);
    if (answer && !answer.ok) this.tell([answer.message, answer.hint].filter(Boolean).join(" "));
    return answer;
  }

  private hear(event: RunEvent): void {
    this.runs.happen(event);
    if (event.seq === undefined) return;
    this.changed.add(event.runId);
    this.timer ??= setTimeout(() => void this.refresh(), GATHER);
  }

  private async refresh(): Promise<void> {
    const changed = [...this.changed];
    this.changed.clear();
    if (changed.length > FEW) this.runs.engineIs(true); // the list is read anew
    const asked = changed.length > FEW ? changed.filter((id) => id === this.followed?.runId) : changed;
    await Promise.all(asked.map((id) => (id === this.followed?.runId ? this.view(this.followed) : this.state(id))));
    this.timer = this.changed.size ? setTimeout(() => void this.refresh(), GATHER) : undefined;
  }

  private async state(id: string): Promise<void> {
    const answer = await call("status", { id });
    if (answer.ok) this.runs.take(answer.state as RunState);
  }

  private async view(followed: { runId: string; seq: number }): Promise<void> {
    const after = followed.seq;
    const answer = await call("view", { id: followed.runId, query: { after } });
    if (!answer.ok) return;
    const { state, ...patch } = answer as unknown as ViewPage;
    followed.seq = Math.max(followed.seq, patch.seq);
    this.runs.view({ ...patch, runId: followed.runId, after });
    this.runs.take(state as RunState);
  }

  private turn(up: boolean): void {
    this.linked.fire(up);
    this.runs.engineIs(up);
    if (up) this.statuses.fire("ready"); // whoever follows a run asks for what it missed
  }
}
