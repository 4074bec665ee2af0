// Copies what the UI tests photographed (out/pictures) to images/, where the README and the walkthrough show it:
// `npm run pictures`. A picture that no test left is named, and the one that is there stays.
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

const missing = Object.entries(PICTURES).filter(([name, picture]) => {
  const source = path.join(from, `${picture}.png`);
  if (!existsSync(source)) return true;
  copyFileSync(source, path.join(root, `images/${name}.png`));
  return false;
});
for (const [name, picture] of missing) console.log(`images/${name}.png stays as it is: no test left ${picture}.png`);
