// What axe-core says of a page inside the editor, and the four kinds of themes in which it is asked.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Frame } from "playwright-core";
import type { EditorWindow } from "./window";

const AXE = readFileSync(createRequire(__filename).resolve("axe-core/axe.min.js"), "utf8");

/** A theme of each kind, with the name that pages know the kind by. */
export const THEMES: Record<string, string> = {
  "Light Modern": "vscode-light",
  "Dark Modern": "vscode-dark",
  "Dark High Contrast": "vscode-high-contrast",
  "Light High Contrast": "vscode-high-contrast-light",
};

interface Violation {
  id: string;
  impact: string;
  help: string;
  nodes: { html: string; failureSummary: string }[];
}

export async function useTheme(window: EditorWindow, theme: string): Promise<void> {
  await window.command("Preferences: Color Theme");
  await window.page.locator(".quick-input-widget input").fill(theme);
  await window.pick(theme);
  await window.webview().locator(`body[data-vscode-theme-kind="${THEMES[theme]}"]`).waitFor();
}

/** What keeps somebody from using the page, each with its place and reason. */
export async function serious(frame: Frame): Promise<string[]> {
  await frame.evaluate(AXE);
  const found = await frame.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(options: object): Promise<{ violations: unknown[] }> } };
    return (await axe.run({ resultTypes: ["violations"] })).violations;
  });
  return (found as Violation[])
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map((one) => `${one.id}: ${one.help}\n${one.nodes.map((node) => `${node.html}\n${node.failureSummary}`).join("\n")}`);
}
