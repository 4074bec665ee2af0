// What the stages of a role loop wrote down, for people: a tree of its artifacts, todos, sprints and memories, their
// texts as documents, and links to artifacts where prompts and outputs name them.
import * as vscode from "vscode";
import type { Artifact, Memory, RunArtifacts, Sprint, Todo } from "../contract/answers";
import { SCHEME as RUN_TEXTS } from "../panel/scheme";
import type { Part, Server } from "../part";
import { count } from "../runs/amounts";
import { isRoleLoop, type RunState } from "../runs/state";
import type { RunStore } from "../runs/store";
import { excerpt, nameOf } from "../runs/words";
import { chooseRun, type Given } from "./choosing";

const VIEW = "loopLs.client.artifacts";
export const SCHEME = "loop-artifact";
/** While a run writes down one thing after the other, the tree is read so often. */
const GATHER = 1000;
/** Of a title or a text so much stands in a line of the tree. */
const LINE = 80;
/** The id of an artifact, as prompts and outputs name it. */
const ID = /\b[0-9a-f]{32}\b/g;

type Written = Pick<RunArtifacts, "artifacts" | "todos" | "sprints" | "memories">;

export interface GroupNode {
  kind: "group";
  label: string;
  description: string;
  items: ItemNode[];
}

export interface ItemNode {
  kind: "item";
  id: string;
  label: string;
  description: string;
  tooltip: string;
  icon: string;
  /** Its text can be opened. */
  opens?: vscode.Uri;
}

export type Node = GroupNode | ItemNode;

export const artifactsPart: Part = ({ server, runs }) => {
  const tree = new ArtifactsTree(server, runs);
  const view = vscode.window.createTreeView<Node>(VIEW, { treeDataProvider: tree });
  let there: boolean | undefined;
  let last: string | undefined;
  const look = (): void => {
    const shown = tree.run();
    last = shown?.runId;
    if (there !== (shown !== undefined)) {
      there = shown !== undefined;
      void vscode.commands.executeCommand("setContext", "loopLs.roleLoops", there);
    }
    view.description = shown && nameOf(shown);
    if (view.visible) tree.soon();
  };
  look();
  return [
    tree,
    view,
    view.onDidChangeVisibility(look),
    runs.onDidChange(({ state }) => {
      if (isRoleLoop(state) && (last === state.runId || last !== tree.run()?.runId)) look();
    }),
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, { provideTextDocumentContent: (uri) => textOf(server, uri) }),
    vscode.languages.registerDocumentLinkProvider([{ scheme: RUN_TEXTS }, { scheme: SCHEME }], { provideDocumentLinks: linksIn }),
    vscode.commands.registerCommand("loopLs.client.artifacts", async (given?: Given) => {
      const wanted = { title: "Show the artifacts of which run?", none: "No role loop has run here.", fits: isRoleLoop };
      const runId = await chooseRun(runs, given, wanted);
      if (runId === undefined) return;
      tree.follow(runId);
      look();
      await vscode.commands.executeCommand(`${VIEW}.focus`);
    }),
  ];
};

/** `loop-artifact:/Plan.md?{...}`: the path is what a tab shows. */
export const addressOf = (runId: string, id: string, title: string): vscode.Uri =>
  vscode.Uri.from({ scheme: SCHEME, path: `/${title.replaceAll("/", "_").slice(0, LINE) || id}.md`, query: JSON.stringify({ runId, artifact: id }) });

/** Groups that have nothing are left out. */
export function groupsOf(runId: string, found: Written): GroupNode[] {
  const open = found.todos.filter((one) => one.status !== "done" && one.status !== "cancelled").length;
  const todos = open ? `${open} of ${found.todos.length} open` : String(found.todos.length);
  const groups: GroupNode[] = [
    { kind: "group", label: "Artifacts", description: String(found.artifacts.length), items: found.artifacts.map((one) => artifactItem(runId, one)) },
    { kind: "group", label: "Todos", description: todos, items: found.todos.map(todoItem) },
    { kind: "group", label: "Sprints", description: String(found.sprints.length), items: found.sprints.map(sprintItem) },
    { kind: "group", label: "Memories", description: String(found.memories.length), items: found.memories.map(memoryItem) },
  ];
  return groups.filter((group) => group.items.length > 0);
}

const artifactItem = (runId: string, one: Artifact): ItemNode => ({
  kind: "item",
  id: one.id,
  label: excerpt(one.title || one.id, LINE),
  description: [one.type, count(one.characters, "character")].join(" · "),
  tooltip: [one.title, by(one.created_by), one.id].filter(Boolean).join("\n"),
  icon: one.type === "loop_output" ? "output" : "file-text",
  opens: addressOf(runId, one.id, one.title),
});

const TODO_ICONS: Record<string, string> = { done: "pass", cancelled: "circle-slash", in_progress: "sync" };

const todoItem = (one: Todo): ItemNode => ({
  kind: "item",
  id: one.id,
  label: excerpt(one.title, LINE),
  description: one.status.replaceAll("_", " "),
  tooltip: [one.title, by(one.created_by)].filter(Boolean).join("\n"),
  icon: TODO_ICONS[one.status] ?? "circle-large-outline",
});

const sprintItem = (one: Sprint): ItemNode => ({
  kind: "item",
  id: one.id,
  label: excerpt(one.title, LINE),
  description: one.status.replaceAll("_", " "),
  tooltip: [one.title, one.acceptance_criteria, one.note].filter(Boolean).join("\n"),
  icon: one.status === "complete" ? "pass" : one.status === "rejected" ? "error" : "milestone",
});

const memoryItem = (one: Memory): ItemNode => ({
  kind: "item",
  id: one.id,
  label: excerpt(one.text, LINE),
  description: "",
  tooltip: [one.text, by(one.created_by)].filter(Boolean).join("\n"),
  icon: "lightbulb",
});

const by = (place: string | null): string => (place ? `by ${place}` : "");

export class ArtifactsTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private timer: NodeJS.Timeout | undefined;
  private followed: string | undefined;

  constructor(
    private readonly server: Pick<Server, "ask">,
    private readonly runs: RunStore,
  ) {}

  /** The run whose records are shown: the one that somebody chose, else the newest role loop. */
  run(): RunState | undefined {
    const chosen = this.followed === undefined ? undefined : this.runs.get(this.followed);
    return chosen ?? this.runs.newest(isRoleLoop);
  }

  follow(runId: string): void {
    this.followed = runId;
    this.changed.fire(undefined);
  }

  soon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.changed.fire(undefined);
    }, GATHER);
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if (node.kind === "group") {
      const group = new vscode.TreeItem(node.label, vscode.TreeItemCollapsibleState.Expanded);
      group.id = node.label;
      group.description = node.description;
      return group;
    }
    const item = new vscode.TreeItem(node.label);
    item.id = node.id;
    item.description = node.description;
    item.tooltip = node.tooltip;
    item.iconPath = new vscode.ThemeIcon(node.icon);
    item.accessibilityInformation = { label: [node.label, node.description].filter(Boolean).join(", ") };
    if (node.opens) item.command = { command: "vscode.open", title: "Open", arguments: [node.opens] };
    return item;
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node) return node.kind === "group" ? node.items : [];
    const runId = this.run()?.runId;
    if (runId === undefined) return [];
    const answer = await this.server.ask("loopLs.artifacts", { runId });
    return answer?.ok ? groupsOf(runId, answer as unknown as Written) : [];
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.changed.dispose();
  }
}

async function textOf(server: Server, uri: vscode.Uri): Promise<string> {
  const { runId, artifact } = JSON.parse(uri.query) as { runId: string; artifact: string };
  const answer = await server.ask("loopLs.artifact", { runId, artifact });
  return answer?.ok ? String(answer.content ?? "") : String(answer?.message ?? "This artifact cannot be shown.");
}

/** A link for each id in the text of a run: most ids of that shape that stand in one are those of artifacts. */
export function linksIn(document: vscode.TextDocument): vscode.DocumentLink[] {
  const { runId } = JSON.parse(document.uri.query || "{}") as { runId?: string };
  if (runId === undefined) return [];
  return [...document.getText().matchAll(ID)].map((found) => {
    const range = new vscode.Range(document.positionAt(found.index), document.positionAt(found.index + found[0].length));
    const link = new vscode.DocumentLink(range, addressOf(runId, found[0], `artifact ${found[0].slice(0, 8)}`));
    link.tooltip = "Open the artifact";
    return link;
  });
}
