// One window at a time: a file that only one can create. Its holder touches it, so that a lock whose holder
// died is seen to be old and taken over. What it guards stays right without it; it only saves work done twice.
import { mkdir, open, rm, stat, utimes } from "node:fs/promises";
import * as path from "node:path";

const TOUCH_EVERY = 2000;
const OLD_AFTER = 20_000;
const LOOK_EVERY = 250;

export interface Held {
  release(): Promise<void>;
}

/** Waits for its turn. Rejects with the reason of the file system where the folder cannot be written. */
export async function takeLock(file: string, signal: AbortSignal, onWait: () => void): Promise<Held> {
  await mkdir(path.dirname(file), { recursive: true });
  for (let told = false; ; ) {
    if (await created(file)) return hold(file);
    if (await isOld(file)) {
      await rm(file, { force: true });
      continue;
    }
    if (!told) onWait();
    told = true;
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
  }
}

async function created(file: string): Promise<boolean> {
  try {
    const handle = await open(file, "wx");
    await handle.writeFile(String(process.pid));
    await handle.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function isOld(file: string): Promise<boolean> {
  return stat(file).then(
    ({ mtimeMs }) => Date.now() - mtimeMs > OLD_AFTER,
    () => false,
  );
}

function hold(file: string): Held {
  const timer = setInterval(() => void utimes(file, new Date(), new Date()).catch(() => undefined), TOUCH_EVERY);
  return {
    release: async () => {
      clearInterval(timer);
      await rm(file, { force: true });
    },
  };
}
