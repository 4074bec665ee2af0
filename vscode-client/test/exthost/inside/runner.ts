// Inside the real extension host there is no test runner: this one runs named tests one after the other and
// says a line for each. The outside reads the lines.

export type Test = readonly [name: string, body: () => Promise<void>];

export async function runAll(tests: readonly Test[]): Promise<void> {
  let failed = 0;
  for (const [name, body] of tests) {
    const began = Date.now();
    try {
      await body();
      console.log(`ok   ${name} (${Date.now() - began} ms)`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    }
  }
  console.log(`END  ${tests.length - failed} passed, ${failed} failed`);
  if (failed) throw new Error(`${failed} failed`);
}

/** Looks again until there is a value; the editor has no event for most of what tests wait for. */
export async function until<T>(what: string, look: () => T | undefined | false | Promise<T | undefined | false>, limit = 60_000): Promise<T> {
  const end = Date.now() + limit;
  while (Date.now() < end) {
    const value = await look();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`not within ${limit} ms: ${what}`);
}
