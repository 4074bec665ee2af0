// What a form is: its fields in order, when each is shown, and what saving it answered. Plain data, so that
// the page draws any form and knows none.

export type Value = string | number | boolean;
export type Values = Record<string, Value>;

/** All of these fields have one of these values. */
export type Condition = Record<string, readonly Value[]>;

interface Common {
  name: string;
  label: string;
  /** Below the field; `{value}` stands for what is set. */
  help?: string;
  shown?: Condition;
}

export type Field =
  | (Common & { kind: "switch" })
  | (Common & { kind: "select"; options: { value: string; label: string }[] })
  | (Common & { kind: "text"; placeholder?: string; code?: boolean; lines?: boolean; secret?: boolean })
  | (Common & { kind: "slider"; minimum: number; maximum: number })
  | (Common & { kind: "number"; minimum: number; maximum: number; step: number });

export interface Form {
  title: string;
  /** What it is about: a name, a file. */
  about: string;
  description: string;
  fields: Field[];
  values: Values;
  /** What its button says, where it saves nothing. */
  submit?: string;
  warning?: { text: string; shown?: Condition };
  advice?: string;
}

export interface Problem {
  name: string;
  message: string;
}

export type Saved = { values: Values; problems: Problem[]; told: string };

export type FromPage = { kind: "ready" } | { kind: "save"; values: Values };
export type ToPage = { kind: "form"; form: Form } | { kind: "saved"; saved: Saved };

export const isShown = (condition: Condition | undefined, values: Values): boolean =>
  Object.entries(condition ?? {}).every(([name, wanted]) => wanted.includes(values[name] ?? ""));

/** Only what differs from what was there. */
export const changed = (values: Values, before: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== before[name]));
