// The setting `loopLs.trace.server`: the talk between editor and server in a channel of its own, made when
// the first line is to be written. The library itself looks at the level of the log, not at the setting.
import * as vscode from "vscode";

export class TraceChannel {
  private channel: vscode.OutputChannel | undefined;
  private readonly changed = new vscode.EventEmitter<vscode.LogLevel>();
  readonly onDidChangeLogLevel = this.changed.event;
  readonly name = "Loop Trace";
  private readonly listening = vscode.workspace.onDidChangeConfiguration((change) => {
    if (change.affectsConfiguration("loopLs.trace.server")) this.changed.fire(this.logLevel);
  });

  get logLevel(): vscode.LogLevel {
    const wanted = vscode.workspace.getConfiguration("loopLs").get<string>("trace.server", "off");
    return wanted === "off" ? vscode.LogLevel.Off : vscode.LogLevel.Trace;
  }

  appendLine(line: string): void {
    this.channel ??= vscode.window.createOutputChannel(this.name);
    this.channel.appendLine(line);
  }

  readonly trace = (message: string): void => this.appendLine(`${new Date().toISOString().slice(11, 23)} ${message}`);
  readonly debug = this.trace;
  readonly info = this.trace;
  readonly warn = this.trace;
  readonly error = (message: string | Error): void => this.trace(String(message));
  readonly append = this.trace;
  readonly replace = this.trace;
  readonly clear = (): void => this.channel?.clear();
  readonly show = (): void => this.channel?.show(true);
  readonly hide = (): void => this.channel?.hide();

  dispose(): void {
    this.listening.dispose();
    this.changed.dispose();
    this.channel?.dispose();
  }
}
