// The pages that people see first: every picture is in the package, every button of the walkthrough is a command.
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Step {
  id: string;
  description: string;
  media: { image: string; altText: string };
  completionEvents: string[];
}

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const steps = manifest.contributes.walkthroughs[0].steps as Step[];
const commands = new Set<string>([...manifest.contributes.commands.map((one: { command: string }) => one.command), "loopLs.run"]);
const readme = readFileSync("README.md", "utf8");

test("each step of the walkthrough has a picture with words for who cannot see it, and says when it is done", () => {
  for (const { media, completionEvents } of steps) {
    expect(existsSync(media.image), media.image).toBe(true);
    expect(media.altText.length).toBeGreaterThan(20);
    expect(completionEvents.length).toBeGreaterThan(0);
  }
});

test("the buttons of the walkthrough and the commands that complete it exist", () => {
  const buttons = steps.flatMap(({ description }) => [...description.matchAll(/\(command:([\w.]+)(?:\?([^)]*))?\)/g)]);
  expect(buttons.length).toBeGreaterThan(4);
  for (const [, command, argument] of buttons) {
    expect(commands).toContain(command);
    if (argument) expect(Object.keys(JSON.parse(decodeURIComponent(argument)))).toEqual(["kind"]);
  }
  const completing = steps.flatMap(({ completionEvents }) => completionEvents).filter((event) => event.startsWith("onCommand:"));
  for (const event of completing) expect(commands).toContain(event.slice("onCommand:".length));
});

test("the README shows pictures that are there, each with words", () => {
  const pictures = [...readme.matchAll(/!\[([^\]]*)\]\(([^)]*)\)/g)];
  expect(pictures.length).toBeGreaterThan(4);
  for (const [, words, file] of pictures) {
    expect(existsSync(file ?? ""), file).toBe(true);
    expect(words?.length).toBeGreaterThan(20);
  }
});

test("what the README tells to call has that name", () => {
  const titles = manifest.contributes.commands.map((one: { title: string }) => `Loop: ${one.title}`);
  for (const [, title] of readme.matchAll(/\*\*(Loop: [^*]+)\*\*/g)) expect(titles).toContain(title);
});
