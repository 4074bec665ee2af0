// The page of a panel or a form: one script, one style sheet, nothing else. Whatever is shown comes by messages and
// is set as text; the policy lets nothing in from a network, a frame or the text itself.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

/** The outline of what comes, from the first moment on: no page is blank while its text is fetched. */
const SKELETON = `<div class="skeleton" aria-hidden="true">${"<i></i>".repeat(6)}</div>`;

/** `bundle`: the name of its script and style sheet in `dist`. */
export function pageOf(webview: vscode.Webview, extension: vscode.Uri, bundle: "panel" | "form", title: string): string {
  const nonce = randomBytes(16).toString("base64url");
  const at = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(extension, "dist", name)).toString();
  const policy = [
    "default-src 'none'",
    `style-src ${webview.cspSource}`,
    `script-src 'nonce-${nonce}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${title}</title>
  <link rel="stylesheet" href="${at(`${bundle}.css`)}">
</head>
<body>
  <div id="app"><p class="loading" role="status">Loading…</p>${SKELETON}</div>
  <script nonce="${nonce}" src="${at(`${bundle}.js`)}"></script>
</body>
</html>`;
}
