// The schemas of our JSON files for the editor's own JSON support: what it needs to complete, explain and check
// them while our server does not run, and nothing at all while it does, so that no word is said twice.
// Registered by the door: the JSON support asks as soon as it sees a file, and asks only once.
import * as vscode from "vscode";
import type { ServerStatus } from "../part";

const SCHEME = "loop-ls-schema";

const WITHOUT_SERVER: ReadonlySet<ServerStatus> = new Set(["missing", "failed"]);

export function registerSchemas(extension: vscode.Uri): SchemaFiles {
  const files = new SchemaFiles(vscode.Uri.joinPath(extension, "dist", "schemas"));
  files.registered = vscode.workspace.registerFileSystemProvider(SCHEME, files, { isReadonly: true, isCaseSensitive: true });
  return files;
}

/** Files that can be read and nothing else. */
export class SchemaFiles implements vscode.FileSystemProvider, vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  private readonly read = new Map<string, vscode.Uri>();
  readonly onDidChangeFile = this.emitter.event;
  private version = 1;
  private needed = false;
  registered: vscode.Disposable | undefined;

  constructor(private readonly folder: vscode.Uri) {}

  /** What became of the server decides what the files say. */
  follow(status: ServerStatus): void {
    if (this.needed === WITHOUT_SERVER.has(status)) return;
    this.needed = !this.needed;
    this.version += 1;
    this.emitter.fire([...this.read.values()].map((uri) => ({ type: vscode.FileChangeType.Changed, uri })));
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    this.read.set(uri.toString(), uri);
    if (!this.needed) return new TextEncoder().encode("{}\n");
    return vscode.workspace.fs.readFile(vscode.Uri.joinPath(this.folder, uri.path));
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { byteLength } = await this.readFile(uri);
    return { type: vscode.FileType.File, ctime: 0, mtime: this.version, size: byteLength };
  }

  watch(): vscode.Disposable {
    return { dispose() {} };
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  writeFile(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  delete(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  rename(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  dispose(): void {
    this.registered?.dispose();
    this.emitter.dispose();
  }
}
