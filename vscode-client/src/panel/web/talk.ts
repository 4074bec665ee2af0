// How the page of a run reaches its host, and what it remembers over a reload. Whoever shows the page opens the door:
// an editor has one of its own, a browser talks to itself.
import type { Act, Tab, ToHost } from "../shape";

export interface Kept {
  runId?: string;
  selected?: string;
  tab?: Tab;
  followed?: boolean;
}

export interface Door {
  postMessage(message: ToHost): void;
  getState(): Kept | undefined;
  setState(state: Kept): void;
}

let door: Door | undefined;

export const open = (given: Door): void => {
  door = given;
};
export const say = (message: ToHost): void => door?.postMessage(message);
export const act = (wanted: Act): void => say({ type: "act", act: wanted });
export const kept = (): Kept => door?.getState() ?? {};
export const keep = (state: Kept): void => door?.setState(state);
