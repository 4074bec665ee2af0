// A model that says very much, behind the dialect that most servers speak; to a judge's question it says YES.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class Talkative {
  private constructor(
    private readonly server: Server,
    readonly address: string,
  ) {}

  /** `size`: characters of each answer. */
  static async start(size: number): Promise<Talkative> {
    const words = Array.from({ length: Math.ceil(size / 16) }, (_, index) => `word ${index} `.padEnd(15, ".")).join("\n");
    const text = words.slice(0, size);
    const server = createServer((request, response) => {
      let asked = "";
      request.on("data", (piece) => (asked += String(piece)));
      request.on("end", () => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const say = (content: string) => response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
        if (asked.includes("Evaluate this condition")) say("YES");
        else for (let at = 0; at < text.length; at += 100_000) say(text.slice(at, at + 100_000));
        response.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new Talkative(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}
