// What a person typed for a start, kept for the next start of the same part of the same file in this
// workspace. What looks like a secret is never kept.
import type * as vscode from "vscode";

/** As much as one text may take of the workspace's storage. */
const LONGEST = 20_000;
const SECRET = /(^|[^a-z])(api|access|auth|private)?[_-]?(key|token|secret|password|passwd|credentials?)($|[^a-z])/i;

/** Whether a field is to be typed unseen and forgotten: `api_key`, `githubToken`, `PASSWORD`. */
export const isSecret = (name: string): boolean => SECRET.test(name.replace(/([a-z0-9])([A-Z])/g, "$1_$2"));

export interface Place {
  uri?: string;
  target?: { kind?: string; name?: string };
}

export class Memory {
  constructor(private readonly storage: Pick<vscode.Memento, "get" | "update">) {}

  last(place: Place, name: string): string | undefined {
    return isSecret(name) ? undefined : this.storage.get<string>(keyOf(place, name));
  }

  keep(place: Place, name: string, text: string): void {
    if (isSecret(name)) return;
    void this.storage.update(keyOf(place, name), text.length > LONGEST ? undefined : text);
  }
}

const keyOf = ({ uri, target }: Place, name: string): string =>
  ["loopLs.last", uri ?? "", target?.kind ?? "workflow", target?.name ?? "", name].join("|");
