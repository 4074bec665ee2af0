// The processor's time that loading a part of the extension takes, for the log and for tests: the clock of a busy
// machine says nothing. The whole process counts, so that what else runs meanwhile makes the figure larger, never smaller.

/** What `load` gives, and the milliseconds of the processor until it was there. */
export async function loading<T>(load: () => Promise<T>): Promise<{ loaded: T; milliseconds: number }> {
  const began = process.cpuUsage();
  const loaded = await load();
  const { user, system } = process.cpuUsage(began);
  return { loaded, milliseconds: (user + system) / 1000 };
}
