// What `loop-ls new` knows of its templates, read from the files that both share.

export interface Kind {
  title: string;
  about: string;
  /** Whether its files carry a name of the author's. */
  named: boolean;
  /** Template -> where it goes, with `{name}`. */
  files: Record<string, string>;
}

export type Kinds = Record<string, Kind>;

/** Who may answer in new files. */
export interface Answering {
  title: string;
  about: string;
  /** What the workflows say of it; that of `anthropic` is in the templates. */
  execution: string;
  /** By kind, template -> where it goes; a kind that is not there has no such choice. */
  files: Record<string, Record<string, string>>;
}

export type Answerings = Record<string, Answering>;
export const SETTINGS = ".loop-ls.yaml";

export const NAME = /^[a-z][a-z0-9_]*$/;

/** A template with its name filled in. */
export function contents(template: string, name: string): string {
  const words = name.replaceAll("_", " ");
  return template.replaceAll("__name__", name).replaceAll("__title__", words.slice(0, 1).toUpperCase() + words.slice(1));
}

/** The nearest name; empty where nothing of the word can stay. */
export const nearestName = (word: string): string =>
  word
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^[0-9_]+|_+$/g, "");
