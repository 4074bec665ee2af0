// The engine's page as it lies in the Python package is what its sources build, and is small.
import { readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const building = import("../../../scripts/browser.mjs");
const LIMIT = 60_000;

test("what is in the package is what the sources build", async () => {
  const { browserFiles, BUILT } = await building;
  const files = await browserFiles();
  expect(Object.keys(files).sort()).toEqual(["icon.svg", "page.css", "page.html", "page.js"]);
  for (const [name, text] of Object.entries(files)) {
    expect(readFileSync(path.join(BUILT, name), "utf8") === text, `${name}: run \`npm run build\` and commit it`).toBe(true);
  }
});

test("all of it is no more than sixty kilobytes on the way, and nothing of it names another host", async () => {
  const { browserFiles } = await building;
  const texts = Object.values(await browserFiles());
  expect(texts.reduce((sum, text) => sum + gzipSync(text).length, 0)).toBeLessThan(LIMIT);
  const hosts = texts.flatMap((text) => text.match(/https?:\/\/[\w.-]+/g) ?? []);
  expect(new Set(hosts.filter((host) => host !== "http://www.w3.org"))).toEqual(new Set());
});
