// A text as paragraphs in which the words that spoke are marked by how much they weighed.

import { h } from "./dom.js";

const WORD = /[\p{L}\p{N}_]{2,}/gu;
const LEVELS = [0.04, 0.2, 0.5]; // of the strongest word's weight: from which a word is marked, and marked more strongly
const WIDEST_WRAP = 100;
const RAGGED = 12;

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
    if (!weight || Math.abs(weight) < LEVELS[0] * strongest) continue;
    pieces.push(text.slice(end, match.index), mark(match[0], weight, strongest));
    end = match.index + match[0].length;
  }
  return [...pieces, text.slice(end)].filter(piece => piece !== "");
}

function mark(word, weight, strongest) {
  const level = LEVELS.filter(share => Math.abs(weight) >= share * strongest).length;
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

/** Paragraphs. Where most lines end only because the next word did not fit, the text flows again; lists and verses stay. */
export function paragraphs(text) {
  const plain = text.replace(/\r\n?/g, "\n");
  const blocks = plain.split(/\n[ \t]*\n|\n(?=[ \t]{2,})/).map(block => block.trim()).filter(block => block !== "");
  return isWrapped(blocks) ? blocks.map(block => block.replace(/\s*\n\s*/g, " ")) : blocks;
}

function isWrapped(blocks) {
  const lines = blocks.map(block => block.split("\n"));
  const widest = Math.max(...lines.flat().map(line => line.length), 0);
  const breaks = lines.flatMap(block => block.slice(0, -1).map((line, index) => line.length + block[index + 1].trim().search(/\s|$/)));
  return widest <= WIDEST_WRAP && 2 * breaks.filter(reach => reach > widest - RAGGED).length >= breaks.length;
}
