// The page of a panel or a form: one script, one style sheet, nothing else. Whatever is shown comes by messages and
// is set as text; the policy lets nothing in from a network, a frame or the text itself.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

/** The outline of what comes, from the first moment on: no page is blank while its script and style sheet are fetched. */
const SKELETON = `<div class="skeleton" aria-hidden="true">${"<i></i>".repeat(6)}</div>`;
/** How the outline looks. It is in the page itself, since a style sheet that is fetched holds back what comes after it. */
const OUTLINE = `
.loading { padding: 14px 18px 4px; color: var(--vscode-descriptionForeground); }
.skeleton { padding: 4px 18px; }
.skeleton i { display: block; height: 14px; margin: 10px 0; border-radius: 4px; background: var(--vscode-editorWidget-border, rgba(128, 128, 128, .3)); opacity: .5; animation: skeleton 1.4s ease-in-out infinite; }
.skeleton i:nth-child(3n + 1) { width: 62%; }
.skeleton i:nth-child(3n + 2) { width: 88%; }
.skeleton i:nth-child(3n) { width: 40%; }
@keyframes skeleton { 50% { opacity: .2; } }
@media (prefers-reduced-motion: reduce) { .skeleton i { animation: none; } }
`;

/** `bundle`: the name of its script and style sheet in `dist`. */
export function pageOf(webview: vscode.Webview, extension: vscode.Uri, bundle: "panel" | "form", title: string): string {
  const nonce = randomBytes(16).toString("base64url");
  const at = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(extension, "dist", name)).toString();
  const policy = [
    "default-src 'none'",
    `style-src ${webview.cspSource} 'nonce-${nonce}'`,
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
  <style nonce="${nonce}">${OUTLINE}</style>
</head>
<body>
  <div id="app"><p class="loading" role="status">Loading…</p>${SKELETON}</div>
  <link rel="stylesheet" href="${at(`${bundle}.css`)}">
  <script nonce="${nonce}" src="${at(`${bundle}.js`)}"></script>
</body>
</html>`;
}
