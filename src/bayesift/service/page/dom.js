// All nodes are made here, from elements and text: no text of a document or a user is ever parsed as HTML.

import { ago, exactTime } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element. Attributes that are null or false are left out; `on` holds listeners, `vars` custom properties. */
export const h = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);

/** An SVG element, made alike. */
export const s = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "vars") {
      for (const [property, given] of Object.entries(value)) {
        node.style.setProperty(`--${property}`, given);
      }
    } else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(
    ...children
      .flat(Infinity)
      .filter(child => child !== null && child !== undefined && child !== false),
  );
  return node;
}

export const byId = id => document.getElementById(id);

/** Text for screen readers only. */
export const unseen = text => h("span", { class: "unseen" }, text);

/** A symbol that screen readers skip. */
export const sign = text => h("span", { "aria-hidden": "true" }, text);

const WITHIN_NAMES = /(?<=[\p{L}_][._/])(?=[\p{L}_])/u;

/** Text that users wrote: isolated from text of another direction; dotted names may break at dots. */
export const written = text =>
  h(
    "bdi",
    {},
    text.split(WITHIN_NAMES).map((part, index) => [index > 0 && h("wbr"), part]),
  );

/** How long ago, and when exactly. */
export const when = time => h("time", { datetime: time, title: exactTime(time) }, ago(time));

export const button = (label, attributes, onClick) =>
  h("button", { type: "button", ...attributes, on: { click: onClick } }, label);

/** A field with its label and a hint below. */
export function field(label, input, hint) {
  const id = input.id || `field-${++fields}`;
  input.id = id;
  if (hint) input.setAttribute("aria-describedby", `${id}-hint`);
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    input,
    hint && h("p", { id: `${id}-hint`, class: "hint" }, hint),
  );
}
let fields = 0;

/** A place to drop files on, or to choose them. */
export function dropZone(id, accept, hint, take) {
  const input = h("input", { type: "file", accept, multiple: true, class: "unseen", id });
  input.addEventListener("change", () => {
    const files = [...input.files];
    input.value = "";
    take(files);
  });
  const drop = h(
    "label",
    { class: "drop", for: id },
    h("strong", {}, "Drop files here or choose them"),
    h("span", { class: "hint" }, hint),
    input,
  );
  const over = inside => event => {
    event.preventDefault();
    drop.classList.toggle("over", inside);
  };
  drop.addEventListener("dragover", over(true));
  drop.addEventListener("dragleave", over(false));
  drop.addEventListener("drop", event => {
    over(false)(event);
    take([...event.dataTransfer.files]);
  });
  return drop;
}

/** Announce something to a screen reader, without moving the focus. */
export function say(text) {
  byId("speech").textContent = text;
}

/**
 * Show a message for some seconds; errors stay until they are dismissed.
 * @param {string} text
 * @param {{kind?: string, action?: {label: string, run: () => void}}} [options]
 */
export function notify(text, { kind = "done", action } = {}) {
  const dismiss = () => notice.remove();
  const notice = h(
    "div",
    { class: `notice ${kind}` },
    h("p", {}, text),
    action &&
      button(action.label, { class: "quiet" }, () => {
        dismiss();
        action.run();
      }),
    button(sign("×"), { class: "quiet close", "aria-label": "Dismiss" }, dismiss),
  );
  byId("notices").replaceChildren(notice);
  if (kind !== "failed") setTimeout(dismiss, 7000);
}

/**
 * Run a change on the server, show the outcome, then refresh the view.
 * @param {() => Promise<any>} change
 * @param {{done?: string, failed: string, then?: () => any}} options
 */
export async function attempt(change, { done, failed, then }) {
  try {
    await change();
  } catch (problem) {
    notify(`${failed}: ${problem.message}`, { kind: "failed" });
    return;
  }
  if (done) notify(done);
  await then?.()?.catch?.(() => {}); // the view may be gone by now
}

/** A function that loads something and shows it; of several calls the newest counts, in whatever order answers come. */
export function newest(load, show) {
  let last = 0;
  return async () => {
    const mine = ++last;
    const found = await load();
    if (mine === last) show(found);
  };
}

/** A dialog that is removed when it is closed. */
export function openDialog(heading, ...children) {
  const dialog = h(
    "dialog",
    { "aria-labelledby": "dialog-title" },
    h("h2", { id: "dialog-title" }, heading),
    children,
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
