// Loop: New ... writes files to begin with: the templates of `loop-ls new`, which the build copies, so that
// it works before there is a server. Writes over nothing, and one undo takes it back.
import * as path from "node:path";
import * as vscode from "vscode";
import type { Part } from "../part";
import { isUri } from "./argument";
import { contents, type Kinds, nearestName, NAME } from "./templates";

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
  const edit = new vscode.WorkspaceEdit();
  const made: vscode.Uri[] = [];
  for (const [template, file] of Object.entries(chosen.files)) {
    const uri = placeOf(folder, file, name);
    edit.createFile(uri, { overwrite: false, contents: new TextEncoder().encode(contents(await read(template), name)) });
    made.push(uri);
  }
  const [first] = made;
  const there = first && (await exists(first));
  if (there || !(await vscode.workspace.applyEdit(edit))) {
    await vscode.window.showErrorMessage(`${made.map((uri) => path.posix.basename(uri.path)).join(" and ")} could not be written${there ? ": it already exists" : ""}.`);
    if (!there) return;
  }
  if (first) await vscode.window.showTextDocument(first);
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
  return (await vscode.window.showQuickPick(rows, { title: "New for loops", matchOnDetail: true }))?.id;
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
