// Loop: New ... writes files to begin with: the templates of `loop-ls new`, which the build copies, so that
// it works before there is a server. Writes over nothing, and one undo takes it back.
import * as path from "node:path";
import * as vscode from "vscode";
import type { Part } from "../part";
import { isUri } from "./argument";
import { type Answerings, contents, type Kinds, nearestName, NAME, SETTINGS } from "./templates";

export const newFilePart: Part = ({ context }) => [
  vscode.commands.registerCommand("loopLs.client.newFile", (argument?: { kind?: string } | vscode.Uri) =>
    newFile(vscode.Uri.joinPath(context.extensionUri, "dist", "templates"), argument),
  ),
];

export async function newFile(templates: vscode.Uri, argument?: { kind?: string } | vscode.Uri): Promise<void> {
  const folder = await folderOf(argument);
  if (!folder) return;
  const read = async (name: string): Promise<string> => new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.joinPath(templates, name)));
  const kinds = JSON.parse(await read("kinds.json")) as Kinds;
  const kind = await kindOf(kinds, argument);
  const chosen = kind === undefined ? undefined : kinds[kind];
  if (!kind || !chosen) return;
  const name = chosen.named ? await nameOf(kind, folder, chosen.files) : "";
  if (name === undefined) return;
  const answerings = JSON.parse(await read("providers.json")) as Answerings;
  const provider = await providerOf(answerings, kind);
  if (provider === undefined) return;
  const answering = provider ? answerings[provider] : undefined;
  const files = { ...chosen.files, ...answering?.files[kind] };
  const settings = kind === "settings" ? undefined : await settingsOf(folder);
  const own = answerings.anthropic?.execution ?? "";
  const edit = new vscode.WorkspaceEdit();
  const made: vscode.Uri[] = [];
  for (const [template, file] of Object.entries(files)) {
    if (file === SETTINGS && settings) continue; // nothing is written over
    const uri = placeOf(folder, file, name);
    const text = (await read(template)).replace(own, answering?.execution || own);
    edit.createFile(uri, { overwrite: false, contents: new TextEncoder().encode(contents(text, name)) });
    made.push(uri);
  }
  const [first] = made;
  const there = first && (await exists(first));
  if (there || !(await vscode.workspace.applyEdit(edit))) {
    await vscode.window.showErrorMessage(`${made.map((uri) => path.posix.basename(uri.path)).join(" and ")} could not be written${there ? ": it already exists" : ""}.`);
    if (!there) return;
  }
  if (first) await vscode.window.showTextDocument(first);
  if (settings && provider) await tellOfSettings(settings, provider, Object.values(files).includes(SETTINGS));
}

/** What settings that are there lack for the new files. */
async function tellOfSettings(settings: vscode.Uri, provider: string, needed: boolean): Promise<void> {
  const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(settings));
  if (!needed || new RegExp(`^\\s+["']?${provider}["']?\\s*:`, "m").test(text)) return;
  const line = `${provider}: {kind: ${provider}}`;
  const choice = await vscode.window.showInformationMessage(`Add this to .loop-ls.yaml under providers: ${line}`, "Copy and Open");
  if (!choice) return;
  await vscode.env.clipboard.writeText(line);
  await vscode.window.showTextDocument(settings);
}

/** The settings that count for files of this folder: the nearest ones, up to the workspace's own folder. */
async function settingsOf(folder: vscode.Uri): Promise<vscode.Uri | undefined> {
  const root = vscode.workspace.getWorkspaceFolder(folder)?.uri.path ?? folder.path;
  for (let place = folder; ; place = vscode.Uri.joinPath(place, "..")) {
    const settings = vscode.Uri.joinPath(place, SETTINGS);
    if (await exists(settings)) return settings;
    if (place.path.length <= root.length) return undefined;
  }
}

/** Empty: this kind asks nobody, or says so by itself. */
async function providerOf(answerings: Answerings, kind: string): Promise<string | undefined> {
  const rows = Object.entries(answerings)
    .filter(([, { files }]) => files[kind])
    .map(([id, { title, about }]) => ({ label: title, detail: about, id }));
  if (rows.length === 0) return "";
  return (await vscode.window.showQuickPick(rows, { title: "Which model answers?", matchOnDetail: true }))?.id;
}

const placeOf = (folder: vscode.Uri, file: string, name: string): vscode.Uri => vscode.Uri.joinPath(folder, file.replaceAll("{name}", name));

/** The folder that was clicked, else that of the file that is looked at, else the workspace's own. */
async function folderOf(argument: { kind?: string } | vscode.Uri | undefined): Promise<vscode.Uri | undefined> {
  if (isUri(argument)) return argument;
  const active = vscode.window.activeTextEditor?.document.uri;
  if (active?.scheme === "file" && vscode.workspace.getWorkspaceFolder(active)) return homeOf(active);
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length > 1) return (await vscode.window.showWorkspaceFolderPick())?.uri;
  if (folders[0]) return folders[0].uri;
  const choice = await vscode.window.showInformationMessage("Open a folder first: the new file is created in it.", "Open Folder…");
  if (choice) await vscode.commands.executeCommand("vscode.openFolder");
  return undefined;
}

/** Definitions of role loops lie in a folder `loops`, which is not where the next file belongs. */
function homeOf(file: vscode.Uri): vscode.Uri {
  const folder = vscode.Uri.joinPath(file, "..");
  return path.posix.basename(folder.path) === "loops" && file.path.endsWith(".json") ? vscode.Uri.joinPath(folder, "..") : folder;
}

async function kindOf(kinds: Kinds, argument: { kind?: string } | vscode.Uri | undefined): Promise<string | undefined> {
  const asked = isUri(argument) ? undefined : argument?.kind;
  if (asked && kinds[asked]) return asked;
  const rows = Object.entries(kinds).map(([kind, { title, about }]) => ({ label: title, detail: about, id: kind }));
  return (await vscode.window.showQuickPick(rows, { title: "New from template", matchOnDetail: true }))?.id;
}

async function nameOf(kind: string, folder: vscode.Uri, files: Record<string, string>): Promise<string | undefined> {
  return vscode.window.showInputBox({
    title: `New ${kind.replace("-", " ")}`,
    prompt: "Name: lowercase letters, digits and _",
    value: `my_${kind.replace("-", "_")}`,
    ignoreFocusOut: true,
    validateInput: async (typed) => {
      if (!NAME.test(typed)) {
        const better = nearestName(typed);
        return `Use lowercase letters, digits and _${better ? `, such as ${better}` : ", starting with a letter"}.`;
      }
      for (const file of Object.values(files)) {
        const uri = placeOf(folder, file, typed);
        if (await exists(uri)) return `${path.posix.basename(uri.path)} already exists.`;
      }
      return undefined;
    },
  });
}

const exists = (uri: vscode.Uri): Promise<boolean> =>
  Promise.resolve(vscode.workspace.fs.stat(uri)).then(
    () => true,
    () => false,
  );
