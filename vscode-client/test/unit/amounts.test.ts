// The editor writes amounts as every other surface does: the examples are those of the server's own tests.
import { expect, test } from "vitest";
import examples from "../../../tests/contract/amounts.json";
import { ago, clock, count, money } from "../../src/runs/amounts";

test.each(examples.money as [number, string][])("money %s is %s", (usd, said) => {
  expect(money(usd)).toBe(said);
});

test("an unknown amount is not shown", () => {
  expect([undefined, Infinity, NaN].map((usd) => money(usd))).toEqual(["", "", ""]);
});

test.each(examples.clock as [number, string][])("a clock after %s ms shows %s", (milliseconds, said) => {
  expect(clock(milliseconds)).toBe(said);
});

test.each(examples.ago as [number, string, string][])("%s seconds are %s", (seconds, short, full) => {
  expect([ago(seconds), ago(seconds, true)]).toEqual([short, full]);
});

test.each(examples.count as [number, string, string][])("%s of %s are %s", (number, noun, said) => {
  expect(count(number, noun)).toBe(said);
});
