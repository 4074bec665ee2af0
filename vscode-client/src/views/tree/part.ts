// The view container "Loop" with its tree of runs: grouping, filter, paging. What is done with a run
// stands in `views/control`, `views/again` and `views/compare`.
import * as vscode from "vscode";
import type { Part } from "../../part";
import { RunList } from "../../runs/list";
import { isLoopFile } from "../../server/ours";
import type { Node } from "./nodes";
import { RunsTree } from "./provider";

const VIEW = "loopLs.client.runs";
/** Only words like "2 minutes ago" grow old by themselves. */
const MINUTE = 60_000;

export const treePart: Part = ({ server, runs }) => {
  const list = new RunList(server, runs);
  const tree = new RunsTree(runs, list);
  const view = vscode.window.createTreeView<Node>(VIEW, { treeDataProvider: tree, canSelectMany: true, showCollapseAll: true });
  const look = () => {
    if (view.visible || vscode.window.visibleTextEditors.some((editor) => isLoopFile(editor.document))) list.want();
  };
  const clock = setInterval(() => {
    if (view.visible) tree.redraw();
  }, MINUTE);
  const group = (grouping: "status" | "file") => () => {
    tree.grouping = grouping;
    void vscode.commands.executeCommand("setContext", "loopLs.runsByFile", grouping === "file");
    tree.redraw();
  };
  const filter = (text: string) => {
    tree.filter = text;
    if (text) void list.readAll();
    view.description = text ? `filter: ${text}` : undefined;
    void vscode.commands.executeCommand("setContext", "loopLs.runsFiltered", text !== "");
    tree.redraw();
  };
  look();
  return [
    list,
    tree,
    view,
    { dispose: () => clearInterval(clock) },
    view.onDidChangeVisibility(look),
    vscode.window.onDidChangeVisibleTextEditors(look),
    vscode.commands.registerCommand("loopLs.client.groupRunsByFile", group("file")),
    vscode.commands.registerCommand("loopLs.client.groupRunsByStatus", group("status")),
    vscode.commands.registerCommand("loopLs.client.filterRuns", () => askForFilter(tree.filter, filter)),
    vscode.commands.registerCommand("loopLs.client.clearRunsFilter", () => filter("")),
    vscode.commands.registerCommand("loopLs.client.showMoreRuns", () => tree.showMore()),
    vscode.commands.registerCommand("loopLs.client.restartEngine", () => server.run("loopLs.engine.restart", {})),
  ];
};

/** Filters while somebody types; Escape brings back what was there. */
function askForFilter(before: string, filter: (text: string) => void): void {
  const box = vscode.window.createInputBox();
  let kept = false;
  box.title = "Filter runs";
  box.placeholder = "words in the name, file or result";
  box.value = before;
  box.onDidChangeValue((text) => filter(text.trim()));
  box.onDidAccept(() => {
    kept = true;
    box.hide();
  });
  box.onDidHide(() => {
    if (!kept) filter(before);
    box.dispose();
  });
  box.show();
}
