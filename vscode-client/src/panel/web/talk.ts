// How the page reaches its host, and what it remembers over a reload. The only place that knows the editor's door.
import type { Act, Tab, ToHost } from "../shape";

export interface Kept {
  runId?: string;
  selected?: string;
  tab?: Tab;
  followed?: boolean;
}

declare function acquireVsCodeApi(): {
  postMessage(message: ToHost): void;
  getState(): Kept | undefined;
  setState(state: Kept): void;
};

const api = acquireVsCodeApi();

export const say = (message: ToHost): void => api.postMessage(message);
export const act = (wanted: Act): void => say({ type: "act", act: wanted });
export const kept = (): Kept => api.getState() ?? {};
export const keep = (state: Kept): void => api.setState(state);
