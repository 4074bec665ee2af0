// Runs what stands in `inside/` in the editor's real extension host, and makes a test of each line it says.
import { build } from "esbuild";
import * as path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { poems } from "../editor/flows";
import { inEditor } from "../editor/inEditor";

const ROOT = path.resolve(__dirname, "../..");
const OUT = path.join(ROOT, "out/exthost");
const WARNED = poems()["haiku.yaml"]?.replace("The critic says", "{{loop.output}} says") ?? "";

const editor = inEditor({ vsix: null, smoke: true });
beforeAll(async () => {
  const names = ["loops", "plain", "failing"];
  await build({
    absWorkingDir: ROOT, entryPoints: names.map((name) => `test/exthost/inside/${name}.ts`), outdir: OUT,
    bundle: true, external: ["vscode"], platform: "node", format: "cjs", logLevel: "warning",
  });
});

/** The lines of a suite, and the code with which it ended. */
async function inside(name: string, files: Record<string, string>): Promise<{ code: number; lines: string[] }> {
  const folder = editor.folder(files);
  const context = await editor.browser.newContext();
  try {
    const page = await context.newPage();
    const lines: string[] = [];
    await page.exposeFunction("codeAutomationLog", (_kind: string, args: unknown[]) => {
      lines.push(...args.map(String).join(" ").split("\n"));
    });
    const ended = new Promise<number>((resolve) => {
      void page.exposeFunction("codeAutomationExit", (code: number) => resolve(code));
    });
    const payload: [string, string][] = [
      ["extensionDevelopmentPath", editor.server.remote(ROOT)],
      ["extensionTestsPath", editor.server.remote(path.join(OUT, name))],
      ["skipWelcome", "true"],
    ];
    await page.goto(editor.server.address(folder, payload), { timeout: 60_000 });
    return { code: await ended, lines };
  } finally {
    await context.close();
  }
}

const failures = (lines: string[]): string[] => lines.filter((line) => line.includes("FAIL"));

test("in a folder with loop files", { timeout: 300_000 }, async () => {
  const { code, lines } = await inside("loops", { ...poems(), "haiku.yaml": WARNED });
  console.log(lines.filter((line) => /ok  |FAIL|END|MEASURED/.test(line)).join("\n"));
  expect(failures(lines)).toEqual([]);
  expect(lines.join("\n")).toMatch(/END {2}9 passed, 0 failed/);
  expect(code).toBe(0);
});

test("in a folder without loop files", { timeout: 180_000 }, async () => {
  const others = { "package.json": "{}\n", "compose.yaml": "services:\n  db: {}\n", "notes.md": "# Notes\n" };
  const { code, lines } = await inside("plain", others);
  expect(failures(lines)).toEqual([]);
  expect(lines.join("\n")).toMatch(/END {2}3 passed, 0 failed/);
  expect(code).toBe(0);
});

test("a failure inside is seen outside", { timeout: 180_000 }, async () => {
  const { code, lines } = await inside("failing", { "notes.md": "" });
  expect(failures(lines)).toEqual([expect.stringContaining("FAIL a deliberate failure")]);
  expect(code).toBe(1);
});
