// The keys, and whether they are on (people who speak to their computer need them off).

import { button, h, openDialog } from "./dom.js";

const KEYS = [
  ["J", "next document"], ["K", "previous document"], ["R", "relevant"], ["N", "not relevant"],
  ["U", "take the last judgement back"], ["T", "teach a word"], ["?", "this help"],
];
const SWITCH = "bayesift.keys";

const keysAreOn = () => localStorage.getItem(SWITCH) !== "off";

/** The key of a single-key shortcut, or null while somebody types, holds another key, or wants none. */
export function shortcut(event) {
  const typing = event.target.closest?.("input:not([type=radio], [type=checkbox]), textarea, select, dialog");
  const held = event.ctrlKey || event.metaKey || event.altKey || event.repeat;
  return typing || held || !keysAreOn() ? null : event.key.toLowerCase();
}

export function openHelpByKey() {
  window.addEventListener("keydown", event => { if (shortcut(event) === "?") showHelp(); });
}

export function showHelp() {
  const on = h("input", { type: "checkbox", id: "keys-on", checked: keysAreOn() });
  on.addEventListener("change", () => localStorage.setItem(SWITCH, on.checked ? "on" : "off"));
  const dialog = openDialog("Reviewing by keys",
    h("dl", { class: "keys" }, KEYS.map(([key, meaning]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, meaning)))),
    h("p", { class: "check" }, on, h("label", { for: "keys-on" }, "Single keys are on")),
    h("h2", {}, "Teaching words"),
    h("p", {}, "Click a word of the text, or select it, and say whether it speaks for or against. Taught words can be taken back under “Learned”."),
    h("p", {}, "Underlined words spoke ", h("mark", { class: "for level-2" }, "for"), " or ",
      h("mark", { class: "against level-2" }, "against"), " the document; the stronger the mark, the more they weighed."),
    button("Close", { autofocus: true }, () => dialog.close()));
}
