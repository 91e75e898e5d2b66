// Keyboard shortcuts, and the switch to turn them off (speech input needs that).

import { button, h, openDialog } from "./dom.js";

const KEYS = [
  ["J", "next document"],
  ["K", "previous document"],
  ["R", "relevant"],
  ["N", "not relevant"],
  ["U", "undo the last judgement"],
  ["T", "set a keyword"],
  ["?", "this help"],
];
const REVIEW_KEYS = [
  ["I", "include"],
  ["E", "exclude"],
  ["M", "maybe"],
  ["R", "exclude with a reason; then 1, 2, … chooses it"],
  ["U", "undo the last decision"],
  ["S", "skip"],
  ["N", "note"],
  ["T", "tags"],
  ["F", "where the full text is"],
  ["D", "another record is the same publication"],
  ["W", "mark the words that speak for relevance, or against it"],
  ["/", "search"],
  ["?", "this help"],
];
const SWITCH = "bayesift.keys";

const keysAreOn = () => localStorage.getItem(SWITCH) !== "off";

/** The key of a single-key shortcut, or null while typing, with a modifier key, or when shortcuts are off. */
export function shortcut(event) {
  const typing = event.target.closest?.(
    "input:not([type=radio], [type=checkbox]), textarea, select, dialog",
  );
  const held = event.ctrlKey || event.metaKey || event.altKey || event.repeat;
  return typing || held || !keysAreOn() ? null : event.key.toLowerCase();
}

export function openHelpByKey() {
  window.addEventListener("keydown", event => {
    if (shortcut(event) === "?") showHelp();
  });
}

export function showHelp() {
  const on = h("input", { type: "checkbox", id: "keys-on", checked: keysAreOn() });
  on.addEventListener("change", () => localStorage.setItem(SWITCH, on.checked ? "on" : "off"));
  const dialog = openDialog(
    "Keyboard shortcuts",
    h(
      "dl",
      { class: "keys" },
      (location.hash.startsWith("#/review/") ? REVIEW_KEYS : KEYS).map(([key, meaning]) =>
        h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, meaning)),
      ),
    ),
    h("p", { class: "check" }, on, h("label", { for: "keys-on" }, "Single-key shortcuts are on")),
    h("h2", {}, "Keywords"),
    h(
      "p",
      {},
      "Click or select a word of the text and set it as evidence for or against relevance. Keywords can be removed under “Words”.",
    ),
    h(
      "p",
      {},
      "Underlined words are evidence ",
      h("mark", { class: "for level-2" }, "for"),
      " or ",
      h("mark", { class: "against level-2" }, "against"),
      " relevance; the stronger the mark, the larger the weight.",
    ),
    button("Close", { autofocus: true }, () => dialog.close()),
  );
}
