// The items of the Testing view: workflows with their loops, role loops, assistants, as the server lists them
// from its index (what is typed counts, saved or not). Iterations are added by whoever shows a run.
import * as vscode from "vscode";
import type { Server } from "../../part";
import type { RunState } from "../../runs/state";
import type { Marks } from "./marks";

interface Runnable {
  kind: string;
  name: string;
  label: string;
  range: RawRange;
  judged: RawRange;
  inner?: Runnable[];
}

interface RawRange {
  start: { line: number; character: number };
  end: { line: number; character: number };
}

/** What an item stands for; `iteration` only for those below a loop. */
export interface Target {
  uri: vscode.Uri;
  kind: string;
  name: string;
  judged: vscode.Range;
  iteration?: { number: number; runId: string };
}

export class Items {
  private readonly targets = new WeakMap<vscode.TestItem, Target>();
  private asking = false;
  private again = false;

  constructor(
    private readonly controller: vscode.TestController,
    private readonly server: Server,
    private readonly marks: Marks,
  ) {}

  targetOf(item: vscode.TestItem): Target | undefined {
    return this.targets.get(item);
  }

  /** The item that a run is about; of a step that is no loop, none. */
  itemOf(state: RunState): vscode.TestItem | undefined {
    if (!state.uri) return undefined;
    const uri = vscode.Uri.parse(state.uri).toString();
    const { kind = "workflow", name } = state.target ?? {};
    const file = [...this.controller.items].map(([, item]) => item).filter((item) => item.uri?.toString() === uri);
    const meant = (item: vscode.TestItem): boolean => {
      const target = this.targets.get(item);
      return target?.kind === kind && (kind === "workflow" || target.name === name || item.label === name);
    };
    for (const item of file) {
      if (meant(item)) return item;
      for (const [, inner] of item.children) if (meant(inner)) return inner;
    }
    return undefined;
  }

  /** The item of a loop inside a workflow's item, else the item itself. */
  loopIn(item: vscode.TestItem, loop: string | undefined): vscode.TestItem {
    const found = [...item.children].map(([, child]) => child).find((child) => this.targets.get(child)?.name === loop && !this.targets.get(child)?.iteration);
    return found ?? item;
  }

  /** The child for an iteration; that of an earlier run gives way. */
  iteration(loop: vscode.TestItem, number: number, runId: string): vscode.TestItem | undefined {
    const target = this.targets.get(loop);
    if (!target) return undefined;
    const id = `${loop.id}/${number}`;
    const known = loop.children.get(id);
    if (known && this.targets.get(known)?.iteration?.runId === runId) return known;
    const item = this.controller.createTestItem(id, `iteration ${number}`, target.uri);
    item.range = target.judged;
    item.sortText = String(number).padStart(6, "0");
    this.targets.set(item, { ...target, iteration: { number, runId } });
    loop.children.add(item);
    return item;
  }

  /** A new run of a loop begins without the iterations of the last one. */
  clearIterations(item: vscode.TestItem): void {
    for (const [id, child] of [...item.children]) {
      if (this.targets.get(child)?.iteration) item.children.delete(id);
      else this.clearIterations(child);
    }
  }

  /** Reads the list again; while that is under way, once more afterwards. */
  async refresh(): Promise<void> {
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    try {
      do {
        this.again = false;
        await this.read();
      } while (this.again);
    } finally {
      this.asking = false;
    }
  }

  private async read(): Promise<void> {
    const answer = await this.server.ask("loopLs.definitions", { runnables: true }).catch(() => undefined);
    if (!answer?.ok || !Array.isArray(answer.runnables)) return;
    const listed = answer.runnables as (Runnable & { uri: string })[];
    this.marks.are(listed);
    this.controller.items.replace(listed.map((one) => this.made(one, vscode.Uri.parse(one.uri), this.controller.items)));
  }

  private made(one: Runnable, uri: vscode.Uri, among: vscode.TestItemCollection): vscode.TestItem {
    const id = `${uri.toString()}#${one.kind}/${one.name}`;
    const item = among.get(id) ?? this.controller.createTestItem(id, one.label, uri);
    item.label = one.label;
    item.range = rangeOf(one.range);
    item.description = one.kind === "loop" || one.kind === "step" ? undefined : vscode.workspace.asRelativePath(uri);
    this.targets.set(item, { uri, kind: one.kind, name: one.name, judged: rangeOf(one.judged) });
    if (one.inner?.length) {
      const iterations = [...item.children].map(([, child]) => child).filter((child) => this.targets.get(child)?.iteration);
      item.children.replace([...one.inner.map((part) => this.made(part, uri, item.children)), ...iterations]);
    }
    return item;
  }
}

const rangeOf = ({ start, end }: RawRange): vscode.Range => new vscode.Range(start.line, start.character, end.line, end.character);
