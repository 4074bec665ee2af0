// The page of a panel in the editor: its door, and what it shows.
import type { ToPage } from "../shape";
import "./page.css";
import { shownIn } from "./shown";
import { type Door, open } from "./talk";

declare function acquireVsCodeApi(): Door;

open(acquireVsCodeApi());
const root = document.getElementById("app");
if (root) {
  const hear = shownIn(root);
  window.addEventListener("message", (event: MessageEvent<ToPage>) => hear(event.data));
}
