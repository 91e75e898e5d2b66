// A text as paragraphs in which the words behind the score are marked by their weights.

import { h } from "./dom.js";

const UNSPACED =
  "\\p{sc=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Mymr}\\p{sc=Khmr}\\u200b-\\u200d";
const WORD = new RegExp(`(?<run>[${UNSPACED}]+)|(?:(?![${UNSPACED}])[\\p{L}\\p{N}_]){2,}`, "gu");
const UNIT = /.[\p{M}\u200b-\u200d]*/gsu;
const LONGEST = 3; // n-grams of characters in scripts without spaces
const LEVELS = [0.04, 0.2, 0.5]; // of the strongest word's weight: from which a word is marked, and marked more strongly
const NAME_BREAKS = /(?<=[._/])(?=[\p{L}_])/u;
const WIDEST_WRAP = 100;
const RAGGED = 12;

/** Paragraph nodes of a text; `words` are [{word, weight, forms}], `chosen` is of `chosenWords`. */
export function markedText(text, words, chosen = null) {
  const weightOf = weights(words);
  return paragraphs(text).map(paragraph => h("p", {}, markedBoth(paragraph, weightOf, chosen)));
}

/** The same for one line, such as a title; dotted names may break at dots. */
export const markedLine = (text, words, chosen = null) =>
  markedBoth(text, weights(words), chosen).flatMap(piece =>
    typeof piece === "string" ? breakable(piece) : piece,
  );

const breakable = text =>
  text.split(NAME_BREAKS).flatMap(part => (/[._/]$/.test(part) ? [part, h("wbr")] : [part]));

/**
 * A pattern of the words and phrases that people highlight, a group for each, and the side of each group. They are whole
 * words in any case; a star stands for the rest of a word. The longest is found first. Null without any.
 */
export function chosenWords(include, exclude) {
  const sides = [
    ...include.map(term => ({ term, side: "include" })),
    ...exclude.map(term => ({ term, side: "exclude" })),
  ]
    .filter(({ term }) => /[\p{L}\p{N}]/u.test(term))
    .sort((one, other) => other.term.length - one.term.length);
  if (!sides.length) return null;
  const pattern = new RegExp(sides.map(({ term }) => `(${expression(term)})`).join("|"), "giu");
  return { pattern, sides: sides.map(({ side }) => side) };
}

const LETTER = "[\\p{L}\\p{M}\\p{N}_]";
const BEGINS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u");

function expression(term) {
  const phrase = term
    .trim()
    .split(/\s+/)
    .map(word => word.replace(/[\\^$.|?+()[\]{}/]/g, "\\$&").replaceAll("*", `${LETTER}*`))
    .join("\\s+");
  return BEGINS_UNSPACED.test(term) ? phrase : `(?<!${LETTER})${phrase}(?!${LETTER})`;
}

/** A text with the words that people highlight, and between them those behind the score. */
function markedBoth(text, weightOf, chosen) {
  if (!chosen) return marked(text, weightOf);
  const pieces = [];
  let end = 0;
  for (const match of text.matchAll(chosen.pattern)) {
    const side = chosen.sides[match.slice(1).findIndex(group => group !== undefined)];
    pieces.push(
      ...marked(text.slice(end, match.index), weightOf),
      h("mark", { class: `chosen ${side}`, title: `highlighted: ${side}` }, match[0]),
    );
    end = match.index + match[0].length;
  }
  return [...pieces, ...marked(text.slice(end), weightOf)];
}

function marked(text, { find, strongest }) {
  const pieces = [];
  let end = 0;
  for (const match of text.matchAll(WORD)) {
    let at = match.index;
    for (const [piece, weight] of match.groups.run
      ? shared(match[0], find)
      : [[match[0], find(match[0].toLowerCase())]]) {
      if (weight && Math.abs(weight) >= LEVELS[0] * strongest) {
        pieces.push(text.slice(end, at), mark(piece, weight, strongest));
        end = at + piece.length;
      }
      at += piece.length;
    }
  }
  return [...pieces, text.slice(end)].filter(piece => piece !== "");
}

/** The characters of a run, each with its shares of the weights of the n-grams it is in. */
function shared(run, find) {
  const units = run.match(UNIT).map(unit => [unit, 0]);
  for (let length = 1; length <= LONGEST; length++) {
    for (let first = 0; first + length <= units.length; first++) {
      const part = units.slice(first, first + length);
      const weight = find(
        part
          .map(([unit]) => unit)
          .join("")
          .replace(/[\u200b-\u200d]/gu, ""),
      );
      if (weight) for (const unit of part) unit[1] += weight / length;
    }
  }
  return units;
}

function mark(word, weight, strongest) {
  const level = LEVELS.filter(share => Math.abs(weight) >= share * strongest).length;
  const side = weight > 0 ? "for" : "against";
  return h(
    "mark",
    { class: `${side} level-${level}`, title: `evidence ${side}: ${signed(weight)}` },
    word,
  );
}

export const signed = weight => `${weight < 0 ? "−" : "+"}${Math.abs(weight).toFixed(2)}`;

/** Find the weight of a word of the text: by the forms the server names, else by a common prefix. */
function weights(words) {
  const exact = new Map(),
    beginnings = [];
  for (const { word, weight, forms } of words) {
    for (const form of forms ?? [word]) exact.set(form.toLowerCase(), weight);
    if (!forms && word.length > 3) beginnings.push([word.toLowerCase(), weight]);
  }
  const strongest = Math.max(...words.map(({ weight }) => Math.abs(weight)), 0);
  const byBeginning = text =>
    beginnings.find(([word]) => text.startsWith(word) && text.length - word.length <= 4)?.[1];
  return { strongest, find: text => exact.get(text) ?? byBeginning(text) };
}

/** Paragraphs. Where most lines end only because the next word did not fit, the text flows again; lists and verses stay. */
export function paragraphs(text) {
  const plain = text.replace(/\r\n?/g, "\n");
  const blocks = plain
    .split(/\n[ \t]*\n|\n(?=[ \t]{2,})/)
    .map(block => block.trim())
    .filter(block => block !== "");
  return isWrapped(blocks) ? blocks.map(block => block.replace(/\s*\n\s*/g, " ")) : blocks;
}

function isWrapped(blocks) {
  const lines = blocks.map(block => block.split("\n"));
  const widest = Math.max(...lines.flat().map(line => line.length), 0);
  const breaks = lines.flatMap(block =>
    block.slice(0, -1).map((line, index) => line.length + block[index + 1].trim().search(/\s|$/)),
  );
  return (
    widest <= WIDEST_WRAP &&
    2 * breaks.filter(reach => reach > widest - RAGGED).length >= breaks.length
  );
}
