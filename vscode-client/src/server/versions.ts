// Whether client and server are of one make: they share a version number up to the second place. A server
// that differs is used all the same, and people are told once what to do.
import type { Origin } from "./locate";

export type Fit = "same" | "older" | "newer" | "unknown";

export function fit(client: string, server: string | undefined): Fit {
  const [ours, theirs] = [numbers(client), numbers(server ?? "")];
  if (!ours || !theirs) return "unknown";
  const [major, minor] = [theirs[0] - ours[0], theirs[1] - ours[1]];
  const difference = major || minor;
  return difference === 0 ? "same" : difference < 0 ? "older" : "newer";
}

function numbers(version: string): [number, number] | undefined {
  const found = /^(\d+)\.(\d+)/.exec(version);
  return found ? [Number(found[1]), Number(found[2])] : undefined;
}

export const PLACE: Record<Origin, string> = {
  setting: "the setting loopLs.server.command",
  workspace: "this folder's .venv",
  path: "the PATH",
  own: "the extension's own environment",
};

/** The sentence for people; undefined where there is nothing to say. */
export function versionSentence(client: string, server: string | undefined, command: string, origin: Origin): string | undefined {
  const place = `${command} (from ${PLACE[origin]})`;
  switch (fit(client, server)) {
    case "same":
      return undefined;
    case "older":
      return `${place} is loop-ls ${server}, older than this extension (${client}), so some of its commands may be missing: update it with pip install -U loop-ls there.`;
    case "newer":
      return `${place} is loop-ls ${server}, newer than this extension (${client}): update the extension.`;
    case "unknown":
      return `${place} does not report its version, so it may not work with this extension (${client}): update it with pip install -U loop-ls there.`;
  }
}
