// Who wants to hear, and what they are told: the editor's own emitter, for modules that a browser shows as well.

export interface Subscription {
  dispose(): void;
}

export type Event<T> = (hear: (value: T) => unknown) => Subscription;

export class Emitter<T> {
  private readonly hearers = new Set<{ hear: (value: T) => unknown }>();

  readonly event: Event<T> = (hear) => {
    const hearer = { hear };
    this.hearers.add(hearer);
    return { dispose: () => void this.hearers.delete(hearer) };
  };

  /** One that fails keeps nothing from the others. */
  fire(value: T): void {
    for (const { hear } of [...this.hearers]) {
      try {
        hear(value);
      } catch (error) {
        console.error(error);
      }
    }
  }

  dispose(): void {
    this.hearers.clear();
  }
}
