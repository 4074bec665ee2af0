// The page of a form: draws the fields from their description, keeps what is set while the tab is hidden, and
// says what became of a save. Native controls, so that keyboard and screen reader work as everywhere.
import { changed, type Field, type Form, type FromPage, isShown, type Saved, type ToPage, type Value, type Values } from "../form";

declare function acquireVsCodeApi(): {
  postMessage(message: FromPage): void;
  getState(): Values | undefined;
  setState(values: Values): void;
};

const editor = acquireVsCodeApi();
const main = document.createElement("main");
const app = document.getElementById("app");
main.append(...(app?.childNodes ?? [])); // what says that it is loading
app?.replaceChildren(main);

let form: Form;
let values: Values = {};

window.addEventListener("message", ({ data }: MessageEvent<ToPage>) => {
  switch (data.kind) {
    case "form":
      form = data.form;
      values = { ...form.values, ...editor.getState() };
      return draw();
    case "saved":
      return settled(data.saved);
  }
});
editor.postMessage({ kind: "ready" });

// -- drawing -------------------------------------------------------------------------------------

function draw(): void {
  const page = make("form", { noValidate: true });
  page.append(make("h1", { textContent: form.title }), make("p", { className: "about", textContent: form.about }));
  page.append(make("p", { textContent: form.description }), ...form.fields.map(row));
  if (form.warning) page.append(make("p", { id: "warning", className: "warning", role: "note", textContent: form.warning.text }));
  const save = make("button", { type: "submit", textContent: form.submit ?? "Save" });
  page.append(save, make("p", { id: "told", className: "told", role: "status" }));
  if (form.advice) page.append(make("aside", { className: "advice", textContent: form.advice }));
  page.addEventListener("submit", (event) => {
    event.preventDefault();
    clearProblems();
    editor.postMessage({ kind: "save", values: changed(values, form.values) });
  });
  main.replaceChildren(page);
  refresh();
  if (form.submit) element(form.fields[0]?.name ?? "told").focus();
}

function row(field: Field): HTMLElement {
  const row = make("div", { className: `row ${field.kind}`, id: `row-${field.name}` });
  const label = make("label", { textContent: field.label, htmlFor: field.name });
  const control = controlOf(field);
  control.id = field.name;
  control.setAttribute("aria-describedby", `help-${field.name} problem-${field.name}`);
  row.append(...(field.kind === "switch" ? [control, label] : [label, control]));
  if (field.kind === "slider") row.append(make("output", { htmlFor: field.name, id: `value-${field.name}` }));
  row.append(make("p", { id: `help-${field.name}`, className: "help" }), make("p", { id: `problem-${field.name}`, className: "problem", role: "alert" }));
  return row;
}

function controlOf(field: Field): HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement {
  switch (field.kind) {
    case "switch": {
      const box = make("input", { type: "checkbox", role: "switch", checked: values[field.name] === true });
      box.addEventListener("change", () => set(field.name, box.checked));
      return box;
    }
    case "select": {
      const list = make("select", {});
      list.append(...field.options.map((option) => make("option", { value: option.value, textContent: option.label })));
      list.value = String(values[field.name]);
      list.addEventListener("change", () => set(field.name, list.value));
      return list;
    }
    case "text": {
      if (field.lines) return textOf(field.name);
      const box = make("input", { type: field.secret ? "password" : "text", value: String(values[field.name] ?? ""), placeholder: field.placeholder ?? "", spellcheck: false });
      if (field.code) box.className = "code";
      box.addEventListener("input", () => set(field.name, box.value));
      return box;
    }
    case "slider":
    case "number": {
      const step = field.kind === "number" ? field.step : 1;
      const type = field.kind === "number" ? "number" : "range";
      const box = make("input", { type, min: String(field.minimum), max: String(field.maximum), step: String(step) });
      box.value = String(values[field.name]);
      box.addEventListener("input", () => set(field.name, box.value === "" ? "" : Number(box.value)));
      return box;
    }
  }
}

/** A text of several lines, taken with Ctrl+Enter. */
function textOf(name: string): HTMLTextAreaElement {
  const box = make("textarea", { value: String(values[name] ?? ""), rows: 4, spellcheck: false });
  box.addEventListener("input", () => set(name, box.value));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) box.form?.requestSubmit();
  });
  return box;
}

function set(name: string, value: Value): void {
  values = { ...values, [name]: value };
  const unseen = new Set(form.fields.filter((field) => field.kind === "text" && field.secret).map((field) => field.name));
  editor.setState(Object.fromEntries(Object.entries(values).filter(([one]) => !unseen.has(one))));
  told("");
  refresh();
}

/** Which fields are shown, and the sentences that name a value. */
function refresh(): void {
  for (const field of form.fields) {
    element(`row-${field.name}`).hidden = !isShown(field.shown, values);
    element(`help-${field.name}`).textContent = (field.help ?? "").replaceAll("{value}", String(values[field.name]));
    if (field.kind === "slider") element(`value-${field.name}`).textContent = String(values[field.name]);
  }
  if (form.warning) element("warning").hidden = !isShown(form.warning.shown, values);
}

// -- saving --------------------------------------------------------------------------------------

function settled({ values: now, problems, told: sentence }: Saved): void {
  form = { ...form, values: now };
  if (!problems.length) editor.setState({}); // what is in the file needs no keeping
  for (const { name, message } of problems) {
    element(`problem-${name}`).textContent = message;
    element(name).setAttribute("aria-invalid", "true");
  }
  const [first] = problems;
  if (first) element(first.name).focus();
  told(sentence);
}

function clearProblems(): void {
  for (const { name } of form.fields) {
    element(`problem-${name}`).textContent = "";
    element(name).removeAttribute("aria-invalid");
  }
}

const told = (sentence: string): void => void (element("told").textContent = sentence);

// -- the document --------------------------------------------------------------------------------

const element = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;

function make<Name extends keyof HTMLElementTagNameMap>(name: Name, properties: Record<string, unknown>): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  const { role, htmlFor, ...others } = properties;
  if (typeof role === "string") made.setAttribute("role", role);
  if (typeof htmlFor === "string") made.setAttribute("for", htmlFor);
  return Object.assign(made, others);
}
