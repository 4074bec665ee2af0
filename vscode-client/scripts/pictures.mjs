// Copies what the UI tests photographed (out/pictures) to images/, where the README and the walkthrough show it, and to
// docs/images/: `npm run pictures`. A picture that no test left is named, and the one that is there stays.
import { copyFileSync, existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const from = process.env.LOOP_LS_PICTURES ?? path.join(root, "out/pictures");

/** Picture of the package -> picture of a test. */
const PICTURES = {
  squiggle: "squiggle",
  completion: "completion",
  new_file: "new_file",
  consent: "consent",
  assistant_form: "assistant_form",
  walkthrough: "walkthrough",
  ended: "ended",
  panel: "panel-live",
  runs: "views-compare",
  testing: "testing-verdict",
};

/** Picture of the documentation -> picture of a test. Panel and form in each kind of theme. */
const DOCUMENTED = {
  "panel-table": "panel-table",
  "input-form": "input_form",
  "panel-edited-prompt": "panel-edited-prompt",
  "panel-light": "panel-light-modern-output",
  "panel-dark": "panel-dark-modern-output",
  "panel-high-contrast": "panel-dark-high-contrast-output",
  "form-light": "form-assistant-light-modern",
  "form-dark": "form-assistant-dark-modern",
  "form-high-contrast": "form-assistant-dark-high-contrast",
};

const wanted = [
  ...Object.entries(PICTURES).map(([name, picture]) => [path.join(root, "images"), name, picture]),
  ...Object.entries(DOCUMENTED).map(([name, picture]) => [path.join(root, "../docs/images"), name, picture]),
];
for (const [folder, name, picture] of wanted) {
  const source = path.join(from, `${picture}.png`);
  const target = path.join(folder, `${name}.png`);
  if (existsSync(source)) copyFileSync(source, target);
  else console.log(`${path.relative(root, target)} stays as it is: no test left ${picture}.png`);
}
