// The form that asks for everything a start needs, where that is more than one text: what each is for stands below it,
// and what was given the last time is there.
import * as vscode from "vscode";
import type { Field, Form, Values } from "./form";
import { showForm } from "./page";

export interface Input {
  name: string;
  help: string;
  last: string;
  choices?: string[];
  secret: boolean;
  /** A text of several lines fits. */
  long: boolean;
}

export interface InputForm {
  /** One form at a time for each: the start that asks again has the form to itself. */
  key: string;
  title: string;
  about: string;
  inputs: Input[];
}

const fieldOf = ({ name, help, choices, secret, long }: Input): Field =>
  choices?.length
    ? { kind: "select", name, label: name, help, options: choices.map((value) => ({ value, label: value })) }
    : { kind: "text", name, label: name, help, lines: long && !secret, secret };

export function inputForm({ title, about, inputs }: InputForm): Form {
  const kept = inputs.some(({ secret }) => secret) ? "Your input is remembered for the next time, except secrets." : "Your input is remembered for the next time.";
  const values = Object.fromEntries(inputs.map(({ name, last, choices }) => [name, choices?.length && !choices.includes(last) ? (choices[0] ?? "") : last]));
  return { title, about, description: kept, fields: inputs.map(fieldOf), values, submit: "Run" };
}

/** What a person gave, by name; undefined when the form was closed. */
export function askInForm(extension: vscode.Uri, asked: InputForm): Promise<Record<string, string> | undefined> {
  const form = inputForm(asked);
  return new Promise((resolve) => {
    const panel = showForm(extension, asked.key, form, async (changed: Values) => {
      const all = { ...form.values, ...changed };
      resolve(Object.fromEntries(Object.entries(all).map(([name, value]) => [name, String(value)])));
      panel.dispose();
      return undefined;
    });
    panel.onDidDispose(() => resolve(undefined));
  });
}
