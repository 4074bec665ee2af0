// Shows that a failure in the extension host does not pass unseen.
import { runAll } from "./runner";

const fails = async (): Promise<void> => {
  throw new Error("on purpose");
};

export const run = (): Promise<void> => runAll([["a deliberate failure", fails]]);
