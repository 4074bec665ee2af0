// The parts of this room, in the order in which they are made.
import type { Part } from "../part";
import { againPart } from "./again";
import { approvalsPart } from "./approvals";
import { artifactsPart } from "./artifacts";
import { changesPart } from "./changes";
import { comparePart } from "./compare";
import { controlPart } from "./control";
import { endingsPart } from "./endings";
import { inboxPart } from "./inbox";
import { lastRunPart } from "./lastRun";
import { outputPart } from "./output";
import { statusPart } from "./status";
import { testingPart } from "./testing/part";
import { treePart } from "./tree/part";

export const VIEWS: readonly Part[] = [
  statusPart,
  outputPart,
  endingsPart,
  approvalsPart,
  inboxPart,
  controlPart,
  againPart,
  changesPart,
  comparePart,
  treePart,
  artifactsPart,
  lastRunPart,
  testingPart,
];
