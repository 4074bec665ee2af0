// A run as it is shown in an element: keeps the model, draws after each message of the host. Says `ready` once, and is
// then told everything.
import { render } from "preact";
import type { Detail, ToPage, Wish } from "../shape";
import { App } from "./app";
import { EMPTY, taken } from "./model";
import { kept, say } from "./talk";

/** What hears the messages of the host. */
export function shownIn(root: HTMLElement): (message: ToPage) => void {
  const restored = kept();
  let model = EMPTY;
  let detail: Detail | undefined;
  let wish: (Wish & { at: number }) | undefined;
  let wishes = 0;

  function draw(): void {
    const start = performance.now();
    render(<App model={model} detail={detail} wish={wish} kept={restored} />, root);
    if (!performance.getEntriesByName("drawn").length) performance.measure("draw", { start }); // its own part of opening a run
  }

  draw();
  say({ type: "ready" });
  return (message) => {
    if (message.type === "detail") detail = message.detail;
    else {
      model = taken(model, message);
      if (message.select || message.tab) wish = { select: message.select, tab: message.tab, at: ++wishes };
    }
    draw();
  };
}
