// Beside the YAML extension of Red Hat: it looks for `workflow/v2.0` as a file that does not exist, and reports
// a broken line a second time. Offers once to leave loop files to us; changes nothing without a yes.
import * as vscode from "vscode";
import type { Part, Server } from "../part";
import { isLoopFile } from "../server/ours";

export const YAML_EXTENSION = "redhat.vscode-yaml";
const REFUSED = "loopLs.besideYaml.never";
/** What makes it read a YAML file as one without a schema, in every editor. */
export const MODELINE = "# yaml-language-server: $schema=none";
export const QUIET: Record<string, boolean> = { validate: false, hover: false, completion: false, "format.enable": false };

const HERE = "All YAML Files of This Workspace";
const FILE = "This File Only";

export const besideYamlPart: Part = ({ context, server }) => {
  const offer = new Offer(context.globalState, server);
  const look = (): void => void offer.consider(vscode.window.activeTextEditor?.document);
  look();
  return [
    server.onDidChangeStatus(look),
    vscode.window.onDidChangeActiveTextEditor(look),
    vscode.extensions.onDidChange(look),
    vscode.commands.registerCommand("loopLs.client.besideYaml", () => offer.choose(vscode.window.activeTextEditor?.document)),
  ];
};

export class Offer {
  private made = false; // once in each window

  constructor(
    private readonly memory: Pick<vscode.Memento, "get" | "update">,
    private readonly server: Pick<Server, "status">,
  ) {}

  async consider(document: vscode.TextDocument | undefined): Promise<void> {
    if (this.made || !document || !this.isDoubled(document)) return;
    this.made = true;
    const choice = await vscode.window.showInformationMessage(
      "The YAML extension also checks loop files: it looks for a schema file named workflow/v2.0, and reports some problems twice. Turn it off for loop files?",
      "Do It",
      "Not Now",
      "Never",
    );
    if (choice === "Never") await this.memory.update(REFUSED, true);
    if (choice === "Do It") await this.choose(document);
  }

  /** Where: the person says how far it goes, and what it takes. */
  async choose(document: vscode.TextDocument | undefined): Promise<void> {
    const rows = [
      { label: HERE, detail: "Writes four settings of the YAML extension to .vscode/settings.json; it then also ignores other YAML files." },
      ...(document?.languageId === "yaml" ? [{ label: FILE, detail: `Adds the line ${MODELINE} to it, which other editors also understand.` }] : []),
    ];
    const row = await vscode.window.showQuickPick(rows, { title: "Turn off the YAML extension for which files?" });
    if (row?.label === HERE) await quieten();
    if (row?.label === FILE && document) await addModeline(document);
  }

  private isDoubled(document: vscode.TextDocument): boolean {
    return (
      this.server.status === "ready" &&
      document.languageId === "yaml" &&
      isLoopFile(document) &&
      vscode.extensions.getExtension(YAML_EXTENSION) !== undefined &&
      vscode.workspace.getConfiguration("yaml").get("validate") !== false &&
      this.memory.get(REFUSED) !== true &&
      !hasModeline(document)
    );
  }
}

async function quieten(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("yaml");
  const target = vscode.workspace.workspaceFolders ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
  for (const [name, value] of Object.entries(QUIET)) await settings.update(name, value, target);
}

async function addModeline(document: vscode.TextDocument): Promise<void> {
  if (hasModeline(document)) return;
  const edit = new vscode.WorkspaceEdit();
  edit.insert(document.uri, new vscode.Position(0, 0), `${MODELINE}\n`);
  await vscode.workspace.applyEdit(edit);
}

const hasModeline = (document: vscode.TextDocument): boolean => /^#\s+yaml-language-server\s*:.*\$schema/m.test(document.getText().slice(0, 2000));
