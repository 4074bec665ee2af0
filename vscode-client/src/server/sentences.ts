// What people read when the server cannot run: one sentence that names the thing first, and the ways out.
// The doctor shows the same sentence with the longer way to mend it.
import type { Tried } from "./environment/python";
import type { PackagesBecause, Trouble } from "./trouble";

export type WayOut = "retry" | "log" | "doctor" | "commandSetting" | "pythonSetting" | "proxySetting" | "ownServer";

export interface Told {
  code: string;
  sentence: string;
  mend: string;
  ways: readonly WayOut[];
  /** What a program said, for the log and the doctor. */
  said?: string;
}

export const LABELS: Record<WayOut, string> = {
  retry: "Try Again",
  log: "Show Log",
  doctor: "Doctor",
  commandSetting: "Open Settings",
  pythonSetting: "Choose Python",
  proxySetting: "Proxy Settings",
  ownServer: "Use the Built-in Server",
};

/** The system's reasons in words. */
const REASONS: Record<string, string> = {
  EACCES: "permission denied",
  EPERM: "not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EEXIST: "a file with that name already exists",
  ENOTDIR: "a file is in the way",
};

const NEEDED = "Python 3.11 or newer";

export function tell(trouble: Trouble): Told {
  const code = trouble.kind;
  switch (trouble.kind) {
    case "no_python":
      return { code, ...aboutPython(trouble.tried), ways: ["pythonSetting", "retry", "doctor"] };
    case "not_writable":
      return {
        code,
        sentence: `${trouble.folder} cannot be written (${REASONS[trouble.because] ?? trouble.because}), so Loop cannot set up its server there.`,
        mend: "Make that folder writable, or install loop-ls yourself and set loopLs.server.command.",
        ways: ["retry", "commandSetting", "doctor"],
      };
    case "no_environment":
      return {
        code,
        sentence: `${trouble.python} could not create an environment for Loop's server.`,
        mend: `Run ${trouble.python} -m venv in a terminal to see why, or choose another Python in the setting loopLs.server.python.`,
        ways: ["pythonSetting", "retry", "log"],
        said: trouble.said,
      };
    case "packages":
      return { code: `packages_${trouble.because}`, ...aboutPackages(trouble.because, trouble.host), said: trouble.said };
    case "no_wheel":
      return {
        code,
        sentence: "Loop found no language server, and this build of the extension does not include one.",
        mend: "Install loop-ls in the folder's .venv, or set loopLs.server.command.",
        ways: ["commandSetting", "doctor"],
      };
    case "cancelled":
      return {
        code,
        sentence: "Loop's server is not set up: it was cancelled.",
        mend: "Run Loop: Restart Server to set it up.",
        ways: ["retry"],
      };
    case "wrong_command":
      return {
        code,
        sentence: `${trouble.command} (setting loopLs.server.command) ${trouble.because === "missing" ? "does not exist" : "is not a program"}.`,
        mend: "Correct the setting loopLs.server.command, or clear it to use the bundled server.",
        ways: ["commandSetting", "ownServer", "doctor"],
      };
    case "not_started":
      return { code, sentence: `${trouble.command} cannot be started: ${REASONS[trouble.because] ?? trouble.because}.`, ...OTHER_SERVER };
    case "silent":
      return { code, sentence: `${trouble.command} did not answer within ${trouble.seconds} seconds; is it a language server?`, ...OTHER_SERVER };
    case "ended_at_once":
      return { code, sentence: `${trouble.command} ended before it answered${firstReason(trouble.said)}.`, ...OTHER_SERVER, said: trouble.said };
    case "keeps_ending":
      return {
        code,
        sentence: `Loop's server ended ${trouble.times} times in a row, so it is not started again.`,
        mend: "See the log for the reason. Loop: Restart Server starts it again; runs continue in the meantime.",
        ways: ["retry", "log", "doctor"],
      };
  }
}

const OTHER_SERVER = {
  mend: "Set loopLs.server.command to a loop-ls with its argument serve, or clear it to use the bundled server.",
  ways: ["commandSetting", "log", "doctor"],
} as const;

function aboutPython(tried: readonly Tried[]): Pick<Told, "sentence" | "mend"> {
  const old = tried.find((one) => one.finding.kind === "too_old");
  const bare = tried.find((one) => one.finding.kind === "no_venv");
  const set = tried.find((one) => one.candidate.from.includes("setting"));
  if (bare?.finding.kind === "no_venv") {
    return {
      sentence: `Python ${bare.finding.version.join(".")} (${bare.finding.executable}) cannot create virtual environments, which Loop's server needs.`,
      mend: "On Debian and Ubuntu: apt install python3-venv. Elsewhere, choose another Python in the setting loopLs.server.python.",
    };
  }
  if (old?.finding.kind === "too_old") {
    return {
      sentence: `Python ${old.finding.version.join(".")} (${old.finding.executable}) is too old for Loop's server, which needs ${NEEDED}.`,
      mend: `Install ${NEEDED}, or choose one in the setting loopLs.server.python.`,
    };
  }
  if (set) {
    const because = set.finding.kind === "broken" ? set.finding.because : "program not found";
    return {
      sentence: `${set.candidate.command} (setting loopLs.server.python) is not a Python that Loop can use: ${because}.`,
      mend: `Name ${NEEDED} there, or clear the setting to let Loop find one.`,
    };
  }
  return {
    sentence: `Python is missing: Loop's server needs ${NEEDED}, and none was found.`,
    mend: `Install ${NEEDED} (python.org, or your system's packages), or set loopLs.server.python.`,
  };
}

function aboutPackages(because: PackagesBecause, host: string | undefined): Pick<Told, "sentence" | "mend" | "ways"> {
  const index = host ?? "the package index";
  switch (because) {
    case "unreachable":
      return {
        sentence: `${index} cannot be reached, so Loop's server could not be set up: check the network or the proxy.`,
        mend: "Once the network is there, try again. Behind a proxy, set http.proxy; for your own package index, set PIP_INDEX_URL or pip's configuration.",
        ways: ["retry", "proxySetting", "log"],
      };
    case "proxy":
      return {
        sentence: `The proxy refused the connection to ${index}, so Loop's server could not be set up.`,
        mend: "Correct the setting http.proxy (or the variable HTTPS_PROXY), then try again.",
        ways: ["proxySetting", "retry", "log"],
      };
    case "certificate":
      return {
        sentence: `${index} has a certificate that Python does not trust, so Loop's server could not be set up.`,
        mend: "Set your organization's certificates in the variable PIP_CERT or in pip's configuration (global.cert), then restart the editor.",
        ways: ["retry", "log", "doctor"],
      };
    case "not_found":
      return {
        sentence: `${index} lacks a package that Loop's server needs; see the log.`,
        mend: "Use a package index that has it, or set loopLs.server.python to a Python it is built for.",
        ways: ["log", "retry", "pythonSetting"],
      };
    case "disk_full":
      return {
        sentence: "The disk is full, so Loop's server could not be set up; it needs about 250 MB.",
        mend: "Free some space, then try again.",
        ways: ["retry", "log"],
      };
    case "limit":
      return {
        sentence: "Loop's server was not set up within 15 minutes, so it was stopped.",
        mend: "Try again with a faster network, or install loop-ls yourself and name it in the setting loopLs.server.command.",
        ways: ["retry", "log", "commandSetting"],
      };
    case "unknown":
      return {
        sentence: "pip could not install what Loop's server needs; see the log.",
        mend: "Read the log, then try again.",
        ways: ["log", "retry", "doctor"],
      };
  }
}

function firstReason(said: string): string {
  const line = said.trim().split(/\r?\n/).at(-1)?.trim();
  return line ? `: ${line.slice(0, 160).replace(/\.$/, "")}` : "";
}
