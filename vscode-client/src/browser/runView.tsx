// One run: the panel of the editor, told by HTTP what the language server tells it there.
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { askedBy, forkOf } from "../panel/commands";
import { RunHost } from "../panel/host";
import type { Act } from "../panel/shape";
import { shownIn } from "../panel/web/shown";
import { type Kept, open } from "../panel/web/talk";
import type { ToPage } from "../panel/shape";
import type { Engine } from "./engine";
import { go } from "./route";

const KEY = "loop-ls.looked";

export function RunView({ engine, id }: { engine: Engine; id: string }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const root = place.current;
    if (!root) return;
    let hear: ((message: ToPage) => void) | undefined;
    const host: RunHost = new RunHost(id, {
      server: engine,
      runs: engine.runs,
      post: (message) => hear?.(message),
      act: (wanted) => void act(engine, host, wanted),
      headed: (head) => {
        document.title = `${head.name}: ${head.sentence}`;
      },
      drawn: () => undefined,
    });
    open({
      postMessage: (message) => queueMicrotask(() => void host.hear(message)),
      getState: () => looked(id),
      setState: (state) => keepLooked(state),
    });
    hear = shownIn(root);
    host.begin();
    return () => {
      host.dispose();
      render(null, root);
    };
  }, [id]);
  return <div class="run" ref={place} />;
}

function looked(id: string): Kept | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Kept | null;
    return kept?.runId === id ? kept : undefined;
  } catch {
    return undefined;
  }
}

function keepLooked(state: Kept): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(state));
  } catch {
    // Then a reload begins at the newest iteration.
  }
}

async function act(engine: Engine, host: RunHost, wanted: Act): Promise<void> {
  const { runId, view, following } = host;
  const { state } = following;
  // Rounds are continued by the run, whatever file an editor has open.
  if (wanted.verb === "continue" || wanted.verb === "skip") return void (await engine.run("loopLs.answer", { runId, answer: wanted.verb }));
  const asked = askedBy(wanted, { runId, state, view });
  if (asked) {
    const answer = await engine.run(asked.command, asked.argument);
    if (asked.begins && answer?.ok) go(["runs", String(answer.runId)]);
    return;
  }
  switch (wanted.verb) {
    case "again":
      return host.begin();
    case "openFile":
      return engine.tell(`The file of this run: ${String(state?.path ?? state?.uri ?? "")}`);
    case "restore": {
      const row = view.rows.get(wanted.row);
      if (row?.kind === "iteration") await engine.run("loopLs.restore", forkOf(runId, row));
      return;
    }
    case "decideChanges":
      await engine.run("loopLs.decideChanges", { runId, decision: wanted.decision });
      return;
    case "showChanges":
      return go(["runs", runId, "changes"]);
    case "show":
      return go(["runs", runId, "text"], { row: wanted.row, what: wanted.what });
    case "diff":
      return go(["runs", runId, "diff"], { left: wanted.left, right: wanted.right });
    default:
      return;
  }
}
