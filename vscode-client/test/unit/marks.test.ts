// Signs behind the names of files: only where something can be run, and drawn anew only where something changed.
import { expect, test } from "vitest";
import * as vscode from "vscode";
import { Marks } from "../../src/views/testing/marks";

const flow = { uri: "file:///w/flow.yaml", kind: "workflow", label: "flow", inner: [{ kind: "loop" }, { kind: "step" }] };
const fixer = { uri: "file:///w/fixer.assistant.yaml", kind: "assistant", label: "Fixer" };
const of = (marks: Marks, uri: string) => marks.provideFileDecoration(vscode.Uri.parse(uri));

test("a file with something to run has a sign that says what", () => {
  const marks = new Marks();
  marks.are([flow, fixer]);
  expect(of(marks, flow.uri)).toMatchObject({ badge: "↻", tooltip: "Loop: workflow flow with 1 loop" });
  expect(of(marks, fixer.uri)).toMatchObject({ tooltip: "Loop: Fixer" });
  expect(of(marks, "file:///w/compose.yaml")).toBeUndefined();
});

test("only what comes, goes or says something else is drawn anew", () => {
  const marks = new Marks();
  const drawn: string[][] = [];
  marks.onDidChangeFileDecorations((uris) => drawn.push(uris.map(String)));
  marks.are([flow, fixer]);
  marks.are([flow, fixer]);
  marks.are([{ ...flow, label: "other" }]);
  expect(drawn).toEqual([[flow.uri, fixer.uri], [flow.uri, fixer.uri]]);
  expect(of(marks, fixer.uri)).toBeUndefined();
});
