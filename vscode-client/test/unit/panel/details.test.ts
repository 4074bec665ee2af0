// What the tabs of a row ask the server for, and what they make of the answers.
import { describe, expect, it } from "vitest";
import { detailOf } from "../../../src/panel/details";
import type { Row } from "../../../src/panel/shape";
import type { Server } from "../../../src/part";

const ROW = { id: "report/2", first: 10, last: 30 } as Row;

function serverThat(answers: Record<string, unknown>): { server: Server; asked: Record<string, unknown>[] } {
  const asked: Record<string, unknown>[] = [];
  const ask = async (command: string, argument: unknown) => {
    asked.push({ command, ...(argument as object) });
    return answers;
  };
  return { server: { ask } as unknown as Server, asked };
}

describe("tabs of a row", () => {
  it("asks for the graph of the round that the row is", async () => {
    const graph = [{ name: "review", kind: "step", mode: "run", needs: [] }];
    const { server, asked } = serverThat({ ok: true, graph });
    expect((await detailOf(server, "r1", ROW, "graph")).graph).toEqual(graph);
    expect(asked).toEqual([{ command: "loopLs.status", runId: "r1", graph: true, place: "report/2" }]);
  });

  it("leaves the graph of the start where the server gives none", async () => {
    const { server } = serverThat({ ok: false, code: "not_found" });
    expect((await detailOf(server, "r1", ROW, "graph")).graph).toBeUndefined();
  });

  it("shows who was told what, with the words before it", async () => {
    const row = { place: "report/2/review", provider: "ollama", model: "small", prompt: "Look.", system: "You review.", answer: "PASS" };
    const { server } = serverThat({ ok: true, prompts: [row] });
    const { prompts } = await detailOf(server, "r1", ROW, "prompt");
    expect(prompts).toEqual([{ place: "report/2/review", who: "ollama/small", system: "You review.", prompt: { text: "Look." }, answer: { text: "PASS" } }]);
  });

  it("lets a prompt be changed that is shown whole, and says which was", async () => {
    const row = { place: "report/2/review", provider: "ollama", model: "small", prompt: "Look.", changeable: true, changed: true };
    const long = { ...row, prompt: "x".repeat(60_001), changed: false };
    const { server } = serverThat({ ok: true, prompts: [row, long] });
    const { prompts } = await detailOf(server, "r1", ROW, "prompt");
    expect(prompts?.map((one) => [one.changeable, one.changed])).toEqual([[true, true], [undefined, undefined]]);
  });
});
