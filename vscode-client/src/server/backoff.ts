// When to start a server again that ended by itself: soon, later, much later, then not at all. A person who
// restarts it, or a server that stays, begins the count anew.

const WAITS = [1000, 4000, 16_000] as const;

export class Backoff {
  private endings = 0;

  /** Milliseconds to wait before the next start; undefined: give up and tell. */
  next(): number | undefined {
    return WAITS[this.endings++];
  }

  get times(): number {
    return this.endings;
  }

  begin(): void {
    this.endings = 0;
  }
}
