// What the extension is made of: each view and command is a part of its own, listed here and nowhere else.
import type { Part } from "./part";
import { besideYamlPart } from "./editing/besideYaml";
import { lensPart } from "./editing/forms/lens";
import { formsPart } from "./editing/forms/part";
import { newFilePart } from "./editing/newFile";
import { runFilePart } from "./editing/runFile";
import { withoutServerPart } from "./editing/withoutServer";
import { panelPart } from "./panel/part";
import { enhancingPart } from "./runs/enhancing";
import { VIEWS } from "./views";

export const PARTS: readonly Part[] = [
  ...VIEWS,
  enhancingPart,
  formsPart,
  lensPart,
  newFilePart,
  runFilePart,
  besideYamlPart,
  withoutServerPart,
  panelPart,
];
