// The page of a panel: hears its host, keeps the model, draws. Says `ready` once, and is then told everything.
import { render } from "preact";
import type { Detail, ToPage, Wish } from "../shape";
import { App } from "./app";
import { EMPTY, taken } from "./model";
import "./page.css";
import { kept, say } from "./talk";

const root = document.getElementById("app");
const restored = kept();
let model = EMPTY;
let detail: Detail | undefined;
let wish: (Wish & { at: number }) | undefined;
let wishes = 0;

function draw(): void {
  const start = performance.now();
  if (root) render(<App model={model} detail={detail} wish={wish} kept={restored} />, root);
  if (!performance.getEntriesByName("drawn").length) performance.measure("draw", { start }); // its own part of opening a run
}

window.addEventListener("message", (event: MessageEvent<ToPage>) => {
  const message = event.data;
  if (message.type === "detail") detail = message.detail;
  else {
    model = taken(model, message);
    if (message.select || message.tab) wish = { select: message.select, tab: message.tab, at: ++wishes };
  }
  draw();
});

draw();
say({ type: "ready" });
