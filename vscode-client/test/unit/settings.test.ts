// Who may set what: a workspace brings settings along with its files, and a repository is a stranger's.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Setting {
  scope: string;
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
  contributes: { configuration: { properties: Record<string, Setting> } | { properties: Record<string, Setting> }[] };
};

function settings(): Record<string, Setting> {
  const found = manifest.contributes.configuration;
  return Object.assign({}, ...[found].flat().map(({ properties }) => properties)) as Record<string, Setting>;
}

test("a repository does not change the limits of a person", () => {
  expect(settings()["loopLs.limits"]?.scope).toBe("machine");
});

test("only what describes a project is set by its workspace without being restricted", () => {
  const free = Object.entries(settings()).filter(([, { scope }]) => scope === "resource");
  expect(free.map(([name]) => name).sort()).toEqual(["loopLs.judge", "loopLs.providers", "loopLs.rules", "loopLs.workflowRoots"]);
});
