// A text as paragraphs in which the words that spoke are marked by how much they weighed.

import { h } from "./dom.js";

const WORD = /[\p{L}\p{N}_]{2,}/gu;
const LEVELS = [0.15, 0.5]; // of the strongest word's weight, from which a mark is stronger

/** Paragraph nodes of a text; `words` are [{word, weight, forms}]. */
export function markedText(text, words) {
  const weightOf = weights(words);
  return paragraphs(text).map(paragraph => h("p", {}, marked(paragraph, weightOf)));
}

/** The same of a line, such as a title. */
export const markedLine = (text, words) => marked(text, weights(words));

function marked(text, { find, strongest }) {
  const pieces = [];
  let end = 0;
  for (const match of text.matchAll(WORD)) {
    const weight = find(match[0].toLowerCase());
    if (!weight) continue;
    pieces.push(text.slice(end, match.index), mark(match[0], weight, strongest));
    end = match.index + match[0].length;
  }
  return [...pieces, text.slice(end)].filter(piece => piece !== "");
}

function mark(word, weight, strongest) {
  const level = 1 + LEVELS.filter(share => Math.abs(weight) >= share * strongest).length;
  const side = weight > 0 ? "for" : "against";
  return h("mark", { class: `${side} level-${level}`, title: `spoke ${side}: ${signed(weight)}` }, word);
}

export const signed = weight => `${weight < 0 ? "−" : "+"}${Math.abs(weight).toFixed(2)}`;

/** How a word of the text is found among those that spoke: by the forms the server names, else by a common beginning. */
function weights(words) {
  const exact = new Map(), beginnings = [];
  for (const { word, weight, forms } of words) {
    for (const form of forms ?? [word]) exact.set(form.toLowerCase(), weight);
    if (!forms && word.length > 3) beginnings.push([word.toLowerCase(), weight]);
  }
  const strongest = Math.max(...words.map(({ weight }) => Math.abs(weight)), 0);
  const byBeginning = text => beginnings.find(([word]) => text.startsWith(word) && text.length - word.length <= 4)?.[1];
  return { strongest, find: text => exact.get(text) ?? byBeginning(text) };
}

/** Paragraphs; lines that were broken to a fixed width flow again, others (lists, verses) keep their breaks. */
export function paragraphs(text) {
  const blocks = text.replace(/\r\n?/g, "\n").split(/\n[ \t]*\n|\n(?=[ \t]{2,})/);
  return blocks.map(block => flowing(block.trim())).filter(block => block !== "");
}

function flowing(block) {
  const lines = block.split("\n");
  const widest = Math.max(...lines.map(line => line.length));
  const wrapped = widest > 40 && widest < 100 && lines.slice(0, -1).every(line => line.length > 0.6 * widest);
  return wrapped ? lines.map(line => line.trim()).join(" ") : block;
}
