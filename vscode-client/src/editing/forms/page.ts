// Shows a form beside the editor and hands what is saved to whoever opened it. Holds no value itself.
import * as vscode from "vscode";
import { pageOf } from "../../page";
import type { Form, FromPage, Saved, ToPage, Values } from "./form";

type Save = (values: Values) => Promise<Saved | undefined>;

interface Page {
  panel: vscode.WebviewPanel;
  form: Form;
  save: Save;
}

const pages = new Map<string, Page>();

/** One page for each `key`: asked for again, it comes to the front with what holds now. */
export function showForm(extension: vscode.Uri, key: string, form: Form, save: Save): vscode.WebviewPanel {
  const there = pages.get(key);
  if (there) {
    Object.assign(there, { form, save });
    there.panel.reveal();
    send(there, { kind: "form", form });
    return there.panel;
  }
  const page: Page = { panel: open(extension), form, save };
  pages.set(key, page);
  page.panel.title = form.title;
  const icon = (shade: string) => vscode.Uri.joinPath(extension, "images", `form-${shade}.svg`);
  page.panel.iconPath = { light: icon("light"), dark: icon("dark") };
  page.panel.onDidDispose(() => pages.delete(key));
  page.panel.webview.onDidReceiveMessage((message: FromPage) => hear(page, message));
  page.panel.webview.html = pageOf(page.panel.webview, extension, "form", "Form");
  return page.panel;
}

async function hear(page: Page, message: FromPage): Promise<void> {
  switch (message.kind) {
    case "ready":
      return send(page, { kind: "form", form: page.form });
    case "save": {
      const saved = await page.save(message.values);
      if (!saved) return;
      page.form = { ...page.form, values: saved.values };
      send(page, { kind: "saved", saved });
    }
  }
}

const send = (page: Page, message: ToPage): void => void page.panel.webview.postMessage(message);

const open = (extension: vscode.Uri): vscode.WebviewPanel =>
  vscode.window.createWebviewPanel("loopLs.form", "", vscode.window.activeTextEditor ? vscode.ViewColumn.Beside : vscode.ViewColumn.Active, {
    enableScripts: true,
    localResourceRoots: [vscode.Uri.joinPath(extension, "dist")],
  });
