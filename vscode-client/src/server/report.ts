// The doctor's report as Markdown, from plain values. Problems come first, each with how to mend it; what is
// fine follows, short. Shows no value of a variable, no token and no file's text.
import type { Origin } from "./locate";
import type { Tried } from "./environment/python";
import type { Told } from "./sentences";
import { withoutSecrets } from "./surroundings";
import { PLACE } from "./versions";

export interface Problem {
  sentence: string;
  mend: string;
}

export interface Findings {
  /** What takes time is still being looked for: programs, the engine. */
  looking?: boolean;
  extension: string;
  editor: string;
  platform: string;
  remote: string | undefined;
  status: string;
  trouble: Told | undefined;
  program: { command: string; args: readonly string[]; origin: Origin; pid: number | undefined; version: string | undefined } | undefined;
  versionSentence: string | undefined;
  carried: string | undefined;
  environment: string | undefined;
  pythons: readonly Tried[];
  engine: { ok: boolean; message?: string; hint?: string; engine?: Record<string, unknown> } | undefined;
  trusted: boolean;
  folders: readonly string[];
  /** Findings in the project's settings files, as the problems view has them. */
  settings: readonly Problem[];
  yaml: { name: string; version: string; validates: boolean } | undefined;
  proxy: string | undefined;
}

export function problems(found: Findings): Problem[] {
  const list: Problem[] = [];
  if (found.trouble) list.push(found.trouble);
  if (found.versionSentence) list.push({ sentence: found.versionSentence, mend: "Then run Loop: Restart Server." });
  if (found.engine && !found.engine.ok) {
    list.push({ sentence: found.engine.message ?? "The engine cannot be used.", mend: found.engine.hint ?? "Read the log: Loop: Show Log." });
  }
  if (!found.trusted) {
    list.push({ sentence: "This workspace is not trusted: files are checked, but nothing can run.", mend: "Run Workspaces: Manage Workspace Trust and trust it." });
  }
  return [...list, ...found.settings];
}

export function report(found: Findings): string {
  const list = problems(found);
  const pages = [
    "# Loop: Doctor",
    found.looking ? "Looking for Python and the engine…" : "",
    list.length === 0 ? (found.looking ? "" : "**No problems found.**") : `**${list.length === 1 ? "1 problem" : `${list.length} problems`}.**`,
    ...list.map((one, index) => `${index + 1}. **${one.sentence}**\n\n   Fix: ${one.mend}`),
    said(found),
    "## Server",
    table(serverRows(found)),
    "## Python",
    found.looking ? "Looking…" : found.pythons.length ? table(found.pythons.map(pythonRow), ["Tried", "From", "Found"]) : "Not needed: a server already exists.",
    "## Engine",
    engine(found),
    "## Here",
    table(placeRows(found)),
  ];
  return `${withoutSecrets(pages.filter(Boolean).join("\n\n"))}\n`;
}

function said(found: Findings): string {
  return found.trouble?.said ? `Output:\n\n\`\`\`text\n${found.trouble.said.replaceAll("```", "'''")}\n\`\`\`` : "";
}

type Row = readonly (string | undefined)[];

/** Without a head of its own, the first row is the head: Markdown has no table without one. */
function table(rows: readonly Row[], ownHead?: Row): string {
  const [head, ...rest] = [...(ownHead ? [ownHead] : []), ...rows.filter((row) => row[1] !== undefined)];
  if (!head) return "";
  const line = (cells: Row): string => `| ${cells.map((cell) => (cell ?? "").replaceAll("|", "\\|").replace(/\r?\n/g, " ")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rest.map(line)].join("\n");
}

function serverRows({ status, program, extension, carried, environment, looking }: Findings): Row[] {
  return [
    ["Status", status],
    ["Program", program && code([program.command, ...program.args].join(" "))],
    ["Found in", program && PLACE[program.origin]],
    ["Version", program && (program.version ?? "unknown")],
    ["Process", program?.pid === undefined ? undefined : String(program.pid)],
    ["Extension", extension],
    ["Carries", looking ? undefined : carried ? `loop-ls ${carried}` : "no server"],
    ["Own environment", environment && code(environment)],
  ];
}

function pythonRow({ candidate, finding }: Tried): Row {
  const name = code([candidate.command, ...candidate.args].join(" "));
  switch (finding.kind) {
    case "suitable":
      return [name, candidate.from, `${finding.version.join(".")}, suitable: ${code(finding.executable)}`];
    case "too_old":
      return [name, candidate.from, `${finding.version.join(".")}, too old: ${code(finding.executable)}`];
    case "no_venv":
      return [name, candidate.from, `${finding.version.join(".")}, cannot create environments: ${code(finding.executable)}`];
    case "missing":
      return [name, candidate.from, "not there"];
    case "broken":
      return [name, candidate.from, `does not work: ${finding.because}`];
  }
}

function engine({ engine: answer, program, looking }: Findings): string {
  if (!program) return "Unknown: the server is not running.";
  if (looking) return "Looking…";
  if (!answer) return "The server did not respond.";
  if (!answer.ok) return answer.message ?? "It cannot be used.";
  const facts = answer.engine ?? {};
  if (facts.running === false && facts.pid === undefined) return "Not running; the first run starts it.";
  const text = (name: string): string | undefined => (facts[name] === undefined ? undefined : String(facts[name]));
  return table([
    ["Version", text("version")],
    ["Process", text("pid")],
    ["Active runs", text("running")],
    ["Since", text("startedAt")],
    ["Sandbox of read-only shells", text("sandbox")],
    ["Data folder", facts.dataDir === undefined ? undefined : code(String(facts.dataDir))],
  ]);
}

function placeRows(found: Findings): Row[] {
  const { yaml } = found;
  const beside = yaml ? `${yaml.name} ${yaml.version}${yaml.validates ? ", checks YAML files, too" : ", its checks are off here"}` : "none";
  return [
    ["Editor", found.editor],
    ["System", found.platform],
    ["Remote", found.remote],
    ["Folders", found.folders.length ? found.folders.map(code).join(", ") : "none is open"],
    ["Trusted", found.trusted ? "yes" : "no"],
    ["YAML extension", beside],
    ["Proxy", found.proxy],
  ];
}

function code(text: string): string {
  return `\`${text.replaceAll("`", "'")}\``;
}
