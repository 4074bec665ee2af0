// A sign behind the name of each file in which something can be run. An icon of its own would need a language of
// its own, and loop files would be no YAML any more for other extensions; the theme's icons stay as they are.
// `explorer.decorations.badges` turns it off, as for all extensions.
import * as vscode from "vscode";

export interface Marked {
  uri: string;
  kind: string;
  label: string;
  inner?: readonly { kind: string }[];
}

export class Marks implements vscode.FileDecorationProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri[]>();
  readonly onDidChangeFileDecorations = this.changed.event;
  private files = new Map<string, string>();

  /** What can be run now; only files whose sign comes, goes or says something else are drawn anew. */
  are(listed: readonly Marked[]): void {
    const words = new Map<string, string[]>();
    for (const one of listed) {
      const uri = vscode.Uri.parse(one.uri).toString();
      words.set(uri, [...(words.get(uri) ?? []), wordsOf(one)]);
    }
    const before = this.files;
    this.files = new Map([...words].map(([uri, all]) => [uri, all.join(", ")]));
    const all = new Set([...before.keys(), ...this.files.keys()]);
    const stale = [...all].filter((uri) => before.get(uri) !== this.files.get(uri));
    if (stale.length > 0) this.changed.fire(stale.map((uri) => vscode.Uri.parse(uri)));
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    const words = this.files.get(uri.toString());
    return words === undefined ? undefined : { badge: "↻", tooltip: words, propagate: false };
  }

  dispose(): void {
    this.changed.dispose();
  }
}

/** `Loop: haiku with 1 loop`. */
function wordsOf({ kind, label, inner = [] }: Marked): string {
  const loops = inner.filter((part) => part.kind === "loop").length;
  if (kind !== "workflow") return `Loop: ${label}`;
  return loops === 0 ? `Loop: workflow ${label}` : `Loop: workflow ${label} with ${loops} loop${loops === 1 ? "" : "s"}`;
}
