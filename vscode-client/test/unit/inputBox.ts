// Input boxes in which a person types at once: what is in `typed` next, undefined for a box that is closed.
import { vi } from "vitest";
import * as vscode from "vscode";

export interface ShownBox {
  title?: string;
  prompt?: string;
  placeholder?: string;
  value: string;
  password: boolean;
  buttons: readonly unknown[];
}

export type Typed = string | undefined | "take what is there" | "use the pencil";

/** The boxes that were shown, with what they held before anything was typed. */
export function people(typed: Typed[]): ShownBox[] {
  const shown: ShownBox[] = [];
  vi.mocked(vscode.window).createInputBox.mockImplementation(() => {
    const heard: Record<string, (() => void)[]> = { accept: [], hide: [], button: [] };
    const box = { value: "", password: false, buttons: [] } as ShownBox;
    const on = (name: string) => (run: () => void) => (heard[name]?.push(run), { dispose() {} });
    const fire = (name: string) => heard[name]?.forEach((run) => run());
    return Object.assign(box, {
      onDidAccept: on("accept"),
      onDidHide: on("hide"),
      onDidTriggerButton: on("button"),
      dispose() {},
      hide: () => fire("hide"),
      show: () => {
        shown.push({ ...box });
        const next = typed.shift();
        if (next === "use the pencil") return fire("button");
        if (next === undefined) return fire("hide");
        if (next !== "take what is there") box.value = next;
        fire("accept");
      },
    }) as never;
  });
  return shown;
}
