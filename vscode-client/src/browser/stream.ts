// What happens, as the engine sends it, without gap and without double: after a break it is asked for what lies behind
// the last position seen. Silence is a break as well. A browser has six connections to one address, so one tab listens for
// all of it and tells the others; one that nobody sees leaves that to another after a while.
import { addressOf, headers, loseToken } from "./api";
import { session } from "./session";
import { Emitter } from "../runs/emitter";
import type { RunEvent } from "../runs/state";

/** Above the heartbeat of the engine (10 s). */
const SILENCE = 25_000;
const FIRST_WAIT = 500;
const LONGEST_WAIT = 5000;
const UNSEEN = 30_000;
const NAME = "loop-ls.stream";

/** What tabs say to each other; the positions are those of the one that listens. */
type Said = { ask: true } | { up: boolean; position?: number } | { event: Placed };
type Placed = RunEvent & { position?: number };

export class Stream {
  private readonly heard = new Emitter<RunEvent>();
  private readonly turned = new Emitter<boolean>();
  readonly onEvent = this.heard.event;
  /** Whether it stands, after each change. */
  readonly onTurn = this.turned.event;
  private position: number | undefined;
  private reading: AbortController | undefined;
  private queued: AbortController | undefined;
  private readonly others = new BroadcastChannel(NAME);
  private leads = false;
  private wake: (() => void) | undefined;
  private unseen: ReturnType<typeof setTimeout> | undefined;
  private resting = false;
  private ended = false;
  private up = false;
  private last = Date.now();

  start(): void {
    document.addEventListener("visibilitychange", this.seen);
    window.addEventListener("online", this.again);
    this.others.onmessage = ({ data }: MessageEvent<Said>) => this.told(data);
    void this.keep();
  }

  stop(): void {
    this.ended = true;
    document.removeEventListener("visibilitychange", this.seen);
    window.removeEventListener("online", this.again);
    clearTimeout(this.unseen);
    this.others.close();
    this.queued?.abort();
    this.reading?.abort();
    this.wake?.();
  }

  private readonly again = (): void => {
    if (Date.now() - this.last > SILENCE) this.reading?.abort();
    this.wake?.();
  };

  private readonly seen = (): void => {
    clearTimeout(this.unseen);
    if (document.visibilityState === "visible") {
      const rested = this.resting;
      this.resting = false;
      this.again();
      if (rested) this.up = false; // whatever was missed is asked for
      return;
    }
    this.unseen = setTimeout(() => {
      this.resting = true;
      this.queued?.abort();
      this.reading?.abort();
    }, UNSEEN);
  };

  private async keep(): Promise<void> {
    while (!this.ended && session() !== undefined) {
      if (this.resting) await this.pause(undefined);
      else await this.queue();
    }
  }

  /** Listens as soon as no other tab does. */
  private async queue(): Promise<void> {
    const queued = (this.queued = new AbortController());
    const lead = async (): Promise<void> => {
      this.leads = true;
      await this.lead();
      this.leads = false;
    };
    this.say({ ask: true });
    await navigator.locks.request(NAME, { signal: queued.signal }, lead).catch(() => undefined);
  }

  private async lead(): Promise<void> {
    for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 2, LONGEST_WAIT)) {
      if (await this.listen()) wait = FIRST_WAIT;
      if (this.resting || this.ended || session() === undefined) return;
      this.turn(false);
      await this.pause(wait);
    }
  }

  /** What another tab says. */
  private told(said: Said): void {
    if ("ask" in said) {
      if (this.leads) this.say({ up: this.up, position: this.position });
    } else if ("event" in said) {
      this.pass(said.event);
    } else if (!this.leads) {
      if (said.up) this.position ??= said.position;
      this.turn(said.up);
    }
  }

  private say(said: Said): void {
    if (!this.ended) this.others.postMessage(said);
  }

  /** Until it breaks; whether it stood. */
  private async listen(): Promise<boolean> {
    const reading = (this.reading = new AbortController());
    let stood = false;
    const watch = setInterval(() => {
      if (Date.now() - this.last > SILENCE) reading.abort();
    }, 1000);
    try {
      const asked = { query: { after: this.position } };
      this.last = Date.now();
      const response = await fetch(addressOf("stream", asked), { headers: headers(), signal: reading.signal, credentials: "omit", cache: "no-store" });
      if (response.status === 401) loseToken();
      if (!response.ok || !response.body) return false;
      stood = true;
      await this.read(response.body.getReader());
    } catch {
      // It broke: it is tried again.
    } finally {
      clearInterval(watch);
      reading.abort();
    }
    return stood;
  }

  private async read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    const parts: string[] = [];
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      this.last = Date.now();
      const text = decoder.decode(part.value, { stream: true });
      parts.push(text);
      if (!text.includes("\n")) continue; // a long output is one line
      const whole = parts.splice(0).join("").split("\n\n");
      parts.push(whole.pop() ?? "");
      for (const message of whole) if (!this.take(message)) return;
    }
  }

  /** False where the engine says goodbye. */
  private take(message: string): boolean {
    const lines = message.split("\n");
    const data = lines.find((line) => line.startsWith("data: "));
    if (data === undefined) return true;
    const said = JSON.parse(data.slice("data: ".length)) as Placed;
    const name = lines.find((line) => line.startsWith("event: "))?.slice("event: ".length);
    if (name === "bye") return false;
    if (name === "hello") {
      this.position ??= said.position;
      this.turn(true);
      return true;
    }
    this.pass(said);
    this.say({ event: said });
    return true;
  }

  /** Each fact once, whoever tells it; streamed text has no position. */
  private pass(event: Placed): void {
    if (event.position !== undefined) {
      if (this.position !== undefined && event.position <= this.position) return;
      this.position = event.position;
    }
    this.heard.fire(event);
  }

  private turn(up: boolean): void {
    if (this.leads) this.say({ up, position: this.position });
    if (up && this.up) return;
    this.up = up;
    this.turned.fire(up);
  }

  private pause(wait: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const timer = wait === undefined ? undefined : setTimeout(resolve, wait);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
