// What the extension is made of: each view and command is a part of its own, listed here and nowhere else.
import type { Part } from "./part";
import { lensPart } from "./editing/forms/lens";
import { formsPart } from "./editing/forms/opening";
import { enhancingPart } from "./runs/enhancing";
import { statusPart } from "./views/status";

export const PARTS: readonly Part[] = [statusPart, enhancingPart, formsPart, lensPart];
