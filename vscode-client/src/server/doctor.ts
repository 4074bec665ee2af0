// `Loop: Doctor`: gathers what the report shows and opens it as a page that is no file. Only reads and asks;
// mends nothing.
import * as vscode from "vscode";
import type { Connection } from "./connection";
import { madeEnvironment } from "./environment/environment";
import type { Finder } from "./find";
import { type Findings, type Problem, report } from "./report";
import { versionSentence } from "./versions";

const SCHEME = "loop-doctor";
/** Milliseconds that a server is given to start before the report is written without it. */
const STARTS = 30_000;
const PAGE = vscode.Uri.from({ scheme: SCHEME, path: "/Loop Doctor.md" });

export class Doctor implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private text = "";
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);

  constructor(
    private readonly server: Connection,
    private readonly finder: Finder,
    private readonly extension: vscode.Extension<unknown>,
  ) {}

  provideTextDocumentContent(): string {
    return this.text;
  }

  /** The report, shown as a page at once and filled in; its text is the answer, for whoever runs the command from
   * elsewhere. */
  async show(): Promise<string> {
    this.tell({ ...this.known(), looking: true });
    const [found] = await Promise.all([this.started().then(() => this.gather()), this.open()]);
    this.tell(found);
    return this.text;
  }

  /** A server that is still starting has said nothing yet, which is no problem: it is waited for. */
  private async started(): Promise<void> {
    if (this.server.status !== "starting") return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, STARTS);
      const told = this.server.onDidChangeStatus((status) => status !== "starting" && done());
      function done(): void {
        clearTimeout(timer);
        told.dispose();
        resolve();
      }
    });
  }

  private tell(found: Findings): void {
    this.text = report(found);
    this.changed.fire(PAGE);
  }

  private async open(): Promise<void> {
    await vscode.workspace.openTextDocument(PAGE);
    await Promise.resolve(vscode.commands.executeCommand("markdown.showPreview", PAGE)).catch(() =>
      vscode.window.showTextDocument(PAGE, { preview: true }),
    );
  }

  dispose(): void {
    this.registered.dispose();
    this.changed.dispose();
  }

  private async gather(): Promise<Findings> {
    const { server, finder } = this;
    const wheel = await finder.carried();
    const environment = wheel && (await madeEnvironment(finder.root, wheel, process.platform === "win32"));
    const needsPython = !server.program || server.program.origin === "own";
    const [pythons, engine] = await Promise.all([needsPython ? finder.pythons() : [], server.program && server.ask("loopLs.engine.status", {})]);
    return { ...this.known(), carried: wheel?.version, environment, pythons, engine };
  }

  /** What needs no looking for. */
  private known(): Findings {
    const { server } = this;
    const program = server.program;
    const version = this.version();
    return {
      extension: version,
      editor: `${vscode.env.appName} ${vscode.version}`,
      platform: `${process.platform} ${process.arch}`,
      remote: vscode.env.remoteName,
      status: server.status,
      trouble: server.trouble,
      program,
      versionSentence: program && server.status !== "starting" ? versionSentence(version, program.version, program.command, program.origin) : undefined,
      carried: undefined,
      environment: undefined,
      pythons: [],
      engine: undefined,
      trusted: vscode.workspace.isTrusted,
      folders: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
      settings: settingsProblems(),
      yaml: yamlExtension(),
      proxy: vscode.workspace.getConfiguration("http").get<string>("proxy") || undefined,
    };
  }

  private version(): string {
    return (this.extension.packageJSON as { version: string }).version;
  }
}

/** What the server found in `.loop-ls.yaml`, and settings of the editor that have no effect. */
function settingsProblems(): Problem[] {
  const list: Problem[] = [];
  for (const [uri, findings] of vscode.languages.getDiagnostics()) {
    if (!uri.path.endsWith("/.loop-ls.yaml")) continue;
    for (const one of findings) {
      const place = `${vscode.workspace.asRelativePath(uri)}, line ${one.range.start.line + 1}`;
      list.push({ sentence: one.message, mend: `It is defined in ${place}.` });
    }
  }
  const command: unknown = vscode.workspace.getConfiguration("loopLs").get("server.command");
  if (!Array.isArray(command) || !command.every((part) => typeof part === "string")) {
    list.push({ sentence: "loopLs.server.command is not a list of strings.", mend: 'Write the program and each argument as a separate string: ["loop-ls", "serve"].' });
  }
  return list;
}

function yamlExtension(): Findings["yaml"] {
  const extension = vscode.extensions.getExtension("redhat.vscode-yaml");
  if (!extension) return undefined;
  const page = extension.packageJSON as { displayName?: string; version?: string };
  const validates = vscode.workspace.getConfiguration("yaml").get<boolean>("validate", true);
  return { name: page.displayName ?? "YAML", version: page.version ?? "", validates };
}
