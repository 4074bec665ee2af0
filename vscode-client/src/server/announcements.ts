// What people are told of the server without asking: a trouble, each with its ways out, and once for each pair
// of versions that the two do not fit. A start that went well is told by nothing.
import type * as vscode from "vscode";
import type { People } from "./connection";
import type { Finder } from "./find";
import type { ServerProgram } from "./locate";
import type { Told } from "./sentences";
import { versionSentence } from "./versions";
import { showTold } from "./ways";

const TOLD = "loopLs.toldVersions";

export class Announcements implements People {
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly finder: Pick<Finder, "tidy">,
  ) {}

  trouble(told: Told): void {
    showTold(told, told.code === "cancelled" ? "warning" : "error");
  }

  ready(program: ServerProgram, version: string | undefined): void {
    if (program.origin === "own") void this.finder.tidy();
    const sentence = versionSentence(this.version, version, program.command, program.origin);
    if (!sentence) return;
    const pair = `${this.version} ${version ?? "?"} ${program.command}`;
    if (this.context.globalState.get(TOLD) === pair) return;
    void this.context.globalState.update(TOLD, pair);
    showTold({ code: "version", sentence, mend: "", ways: ["doctor", "commandSetting"] }, "warning");
  }

  private get version(): string {
    return (this.context.extension.packageJSON as { version: string }).version;
  }
}
