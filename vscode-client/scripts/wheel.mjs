// The Python server as the extension carries it: its wheel, built from this clone, the list of what the wheel
// needs, and a page that says which it is. Builds nothing while the sources are those of the last build.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const client = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const clone = path.resolve(client, "..");
const folder = path.join(client, "wheel");
const LIMIT = 300_000;

const hash = (...parts) => parts.reduce((sum, part) => sum.update(part), createHash("sha256")).digest("hex");

function sources() {
  const files = readdirSync(path.join(clone, "loop_ls"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("__pycache__") && !entry.name.endsWith(".pyc"))
    .map((entry) => path.relative(clone, path.join(entry.parentPath, entry.name)));
  const all = [...files, "pyproject.toml", "README.md", "LICENSE"].sort();
  return hash(...all.flatMap((file) => [file, "\0", readFileSync(path.join(clone, file)), "\0"]));
}

/** The first Python that can build: the one named, the clone's own, the one on the path. */
function buildingPython() {
  const own = path.join(clone, ".venv", process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
  const able = [process.env.LOOP_LS_BUILD_PYTHON, own, "python3", "python"].filter(Boolean).find((python) => {
    try {
      execFileSync(python, ["-c", "import sys, pip; sys.exit(sys.version_info < (3, 11))"], { stdio: "ignore", timeout: 20_000 });
      return true;
    } catch {
      return false;
    }
  });
  if (able) return able;
  throw new Error("scripts/wheel.mjs: no Python 3.11 or newer with pip was found; name one in LOOP_LS_BUILD_PYTHON");
}

const READ = `
import email, json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    name = next(one for one in wheel.namelist() if one.endswith(".dist-info/METADATA"))
    page = email.message_from_string(wheel.read(name).decode())
needs = [one for one in page.get_all("Requires-Dist") if "extra ==" not in one]
print(json.dumps({"version": page["Version"], "python": page["Requires-Python"], "needs": needs}))
`;

const digest = sources();
const page = path.join(folder, "wheel.json");
const last = existsSync(page) ? JSON.parse(readFileSync(page, "utf8")) : undefined;
if (last?.sources === digest && existsSync(path.join(folder, last.file))) process.exit(0);

const python = buildingPython();
const building = `${folder}.building-${process.pid}`;
rmSync(building, { recursive: true, force: true });
mkdirSync(building, { recursive: true });
try {
  const quiet = ["--quiet", "--disable-pip-version-check", "--no-deps"];
  const environment = { ...process.env, PYTHONPATH: "", SOURCE_DATE_EPOCH: "1580601600" };
  execFileSync(python, ["-m", "pip", "wheel", ...quiet, "--wheel-dir", building, clone], {
    stdio: ["ignore", "inherit", "inherit"], timeout: LIMIT, env: environment,
  });
  const file = readdirSync(building).find((name) => name.endsWith(".whl"));
  const wheel = path.join(building, file);
  const facts = JSON.parse(execFileSync(python, ["-c", READ, wheel], { encoding: "utf8", timeout: 20_000 }));
  const named = { file, version: facts.version, sha256: hash(readFileSync(wheel)), python: facts.python.replace(/^>=/, ""), sources: digest };
  writeFileSync(path.join(building, "requirements.txt"), `${facts.needs.join("\n")}\n`);
  writeFileSync(path.join(building, "wheel.json"), `${JSON.stringify(named, null, 2)}\n`);
  rmSync(folder, { recursive: true, force: true });
  renameSync(building, folder);
  console.log(`${file}: ${named.sha256.slice(0, 12)}`);
} finally {
  rmSync(building, { recursive: true, force: true });
}
