// Which Python can make the server's environment: asks each candidate for its version and whether it can make
// environments, and takes the first that can. Keeps what was tried, for messages and for the doctor.
import * as path from "node:path";
import type { RunChild } from "../child";

const LIMIT = 20_000;
const ASK =
  "import sys,json,importlib.util as u;" +
  "print(json.dumps({'executable':sys.executable,'version':list(sys.version_info[:3])," +
  "'able':all(u.find_spec(n) for n in ('venv','ensurepip'))}))";

export interface Candidate {
  command: string;
  args: readonly string[];
  /** Where the candidate comes from, as people know it: "setting `loopLs.server.python`", "PATH". */
  from: string;
}

export type Version = readonly [number, number, number];

export type Finding =
  | { kind: "suitable" | "too_old" | "no_venv"; executable: string; version: Version }
  | { kind: "missing" }
  | { kind: "broken"; because: string };

export interface Tried {
  candidate: Candidate;
  finding: Finding;
}

export interface Places {
  /** The setting `loopLs.server.python`: the only candidate where it is given. */
  configured: string;
  /** What the Python extension says is selected, if it runs. */
  selected: string | undefined;
  windows: boolean;
}

/** In this order; `python3` first, since it is what people get in a terminal. */
export function candidates(places: Places): Candidate[] {
  if (places.configured) return [{ command: places.configured, args: [], from: "the setting loopLs.server.python" }];
  const chosen = places.selected ? [{ command: places.selected, args: [], from: "the Python extension" }] : [];
  const names = ["python3", "python", "python3.14", "python3.13", "python3.12", "python3.11"];
  const onPath = names.map((command) => ({ command, args: [], from: "the PATH" }));
  const launcher = places.windows ? [{ command: "py", args: ["-3"], from: "the Python launcher" }] : [];
  const usual = places.windows ? [] : ["/opt/homebrew/bin/python3", "/usr/local/bin/python3", "/usr/bin/python3"];
  return [...chosen, ...onPath, ...launcher, ...usual.map((command) => ({ command, args: [], from: "its usual place" }))];
}

export interface Asking {
  run: RunChild;
  cwd: string;
  env: NodeJS.ProcessEnv;
  oldest: readonly [number, number];
  signal?: AbortSignal;
}

/** Asks one after the other until one is suitable: what was tried, the suitable one last. */
export async function findPython(places: Places, asking: Asking): Promise<Tried[]> {
  const tried: Tried[] = [];
  const seen = new Set<string>();
  for (const candidate of candidates(places)) {
    const finding = await ask(candidate, asking);
    if ("executable" in finding && seen.has(finding.executable)) continue;
    if ("executable" in finding) seen.add(finding.executable);
    tried.push({ candidate, finding });
    if (finding.kind === "suitable" || asking.signal?.aborted) break;
  }
  return tried;
}

export function suitable(tried: readonly Tried[]): string | undefined {
  const finding = tried.at(-1)?.finding;
  return finding?.kind === "suitable" ? finding.executable : undefined;
}

async function ask(candidate: Candidate, asking: Asking): Promise<Finding> {
  const { run, cwd, env, signal } = asking;
  const outcome = await run({ command: candidate.command, args: [...candidate.args, "-I", "-c", ASK], cwd, env, limit: LIMIT, signal });
  switch (outcome.ending) {
    case "not_started":
      return outcome.error === "ENOENT" ? { kind: "missing" } : { kind: "broken", because: outcome.error ?? "it does not start" };
    case "limit":
      return { kind: "broken", because: "it did not answer within 20 seconds" };
    case "cancelled":
      return { kind: "broken", because: "cancelled" };
    case "exited":
      return understood(outcome.stdout, asking.oldest) ?? { kind: "broken", because: lastWords(outcome.stderr, outcome.code) };
  }
}

function understood(text: string, [major, minor]: readonly [number, number]): Finding | undefined {
  try {
    const { executable, version, able } = JSON.parse(text) as { executable: string; version: [number, number, number]; able: boolean };
    if (!path.isAbsolute(executable)) return undefined;
    if (version[0] < major || (version[0] === major && version[1] < minor)) return { kind: "too_old", executable, version };
    return { kind: able ? "suitable" : "no_venv", executable, version };
  } catch {
    return undefined;
  }
}

function lastWords(text: string, code: number | null): string {
  return text.trim().split(/\r?\n/).at(-1) || `it ended with ${code ?? "a signal"}`;
}
