import { expect, test } from "vitest";
import type { Order, Outcome } from "../../../../src/server/child";
import { candidates, findPython, suitable } from "../../../../src/server/environment/python";

const nothing = { configured: "", selected: undefined, windows: false };
const missing: Outcome = { ending: "not_started", code: null, stdout: "", stderr: "", error: "ENOENT" };
const says = (executable: string, version: number[], able = true): Outcome => ({
  ending: "exited", code: 0, stderr: "", stdout: `${JSON.stringify({ executable, version, able })}\n`,
});

function asking(answers: Record<string, Outcome>) {
  const orders: Order[] = [];
  const run = async (order: Order): Promise<Outcome> => {
    orders.push(order);
    return answers[order.command] ?? missing;
  };
  return { orders, asking: { run, cwd: "/", env: {}, oldest: [3, 11] as const } };
}

test("the setting is the only candidate where it is given", () => {
  expect(candidates({ ...nothing, configured: "/opt/py/bin/python" }).map((one) => one.command)).toEqual(["/opt/py/bin/python"]);
});

test("what is selected in the Python extension comes before the path, and Windows has a launcher", () => {
  const commands = candidates({ configured: "", selected: "/sel/python", windows: true }).map((one) => [one.command, ...one.args].join(" "));
  expect(commands.slice(0, 3)).toEqual(["/sel/python", "python3", "python"]);
  expect(commands).toContain("py -3");
});

test("a python3 that is too old is passed over for a python3.12 beside it", async () => {
  const { asking: how } = asking({ python3: says("/usr/bin/python3", [3, 9, 2]), "python3.12": says("/usr/bin/python3.12", [3, 12, 4]) });
  const tried = await findPython(nothing, how);
  expect(suitable(tried)).toBe("/usr/bin/python3.12");
  expect(tried[0]?.finding).toEqual({ kind: "too_old", executable: "/usr/bin/python3", version: [3, 9, 2] });
});

test("one that cannot make environments is passed over", async () => {
  const { asking: how } = asking({ python3: says("/usr/bin/python3", [3, 11, 2], false), python: says("/opt/python", [3, 13, 0]) });
  expect(suitable(await findPython(nothing, how))).toBe("/opt/python");
});

test("nobody is asked after the first that is suitable, and each is asked apart from the user's packages", async () => {
  const { orders, asking: how } = asking({ python3: says("/usr/bin/python3", [3, 11, 7]) });
  await findPython(nothing, how);
  expect(orders.map((order) => order.command)).toEqual(["python3"]);
  expect(orders[0]?.args[0]).toBe("-I");
});

test("the same program under two names is told once", async () => {
  const old = says("/usr/bin/python3.9", [3, 9, 2]);
  const { asking: how } = asking({ python3: old, python: old });
  const tried = await findPython(nothing, how);
  expect(tried.filter((one) => one.finding.kind === "too_old")).toHaveLength(1);
  expect(suitable(tried)).toBeUndefined();
});

test.each([
  [{ ...missing, ending: "exited", code: 9009, error: undefined, stderr: "Python was not found; run without arguments\n" } as Outcome, "Python was not found; run without arguments"],
  [{ ...missing, ending: "limit", error: undefined } as Outcome, "it did not answer within 20 seconds"],
  [{ ...missing, error: "EACCES" } as Outcome, "EACCES"],
  [says("python", [3, 12, 0]), "it ended with 0"],
])("one that does not work is told with its reason", async (outcome, because) => {
  const { asking: how } = asking({ python3: outcome });
  const [first] = await findPython(nothing, how);
  expect(first?.finding).toEqual({ kind: "broken", because });
});
