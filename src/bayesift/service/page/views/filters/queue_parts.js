// The parts of the page on which documents of a filter are judged.

import { mayDo } from "../../api.js";
import { probabilityBar, stoppingGauge, weightBar } from "../../charts.js";
import { button, h, sign, unseen, when, written } from "../../dom.js";
import { markedLine, markedText, signed } from "../../highlight.js";
import { REFUSED, SAVED, SAVING } from "./queue_list.js";
import { capital, percent, plural, reason, titleOf, verdict } from "../../format.js";
import { filterLink } from "./frame.js";

const SHOWN_WORDS = 8;

/** The queue beside the document. */
export function drawList(place, list, open) {
  place.replaceChildren(
    h("h2", { class: "small" }, "Queue"),
    h(
      "ol",
      {},
      list.entries.map((entry, index) =>
        h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              data: { key: `open-${entry.document.id}` },
              "aria-current": index === list.position ? "true" : null,
              on: { click: () => open(entry.document.id) },
            },
            h("span", { class: "title" }, written(titleOf(entry.document))),
            h("span", { class: "state" }, stateOf(entry)),
          ),
        ),
      ),
    ),
  );
}

function stateOf(entry) {
  if (entry.state === REFUSED) return [sign("! "), "not saved"];
  if (entry.mine === null) return entry.state === SAVING ? "undoing …" : percent(entry.probability);
  const judged = [sign(entry.mine ? "✓ " : "✕ "), verdict(entry.mine)];
  return entry.state === SAVED ? judged : [...judged, ", saving …"];
}

/** A document with its reason, its judgements and, for reviewers, the buttons; `where` is its position in the queue. */
export function drawDocument(place, entry, actions, where = null) {
  const { document: paper, words } = entry;
  const [label] = reason(entry);
  place.replaceChildren(
    h(
      "header",
      {},
      h(
        "p",
        { class: "meta" },
        h(
          "span",
          { class: `tag why-${entry.why}` },
          label,
          h("span", { class: "narrow-only" }, ` · ${percent(entry.probability)}`),
        ),
        where && h("span", { class: "where" }, where),
        paper.id !== paper.title && h("span", { class: "id" }, written(paper.id)),
      ),
      h(
        "h2",
        { tabindex: "-1", dir: "auto", data: { key: "title" } },
        paper.title.trim() ? markedLine(paper.title.trim(), words) : titleOf(paper),
      ),
      standing(entry),
    ),
    documentText(paper, words),
    mayDo("reviewer")
      ? judging(entry, actions)
      : h("p", { class: "soft" }, "Your role does not allow judging."),
  );
}

/** The text of a document, unless it was deleted. */
function documentText({ text, purged }, words) {
  if (text.trim()) return h("div", { class: "text", dir: "auto" }, markedText(text, words));
  const gone = "The text of this document was deleted; what was learned from it stays.";
  return h("p", { class: "soft" }, purged ? gone : "This document has no text.");
}

/** My judgement and those of others. */
function standing(entry) {
  return [
    myStanding(entry),
    entry.judgements.map(judgement => h("p", { class: "standing" }, judgementWords(judgement))),
  ];
}

function myStanding({ mine, state }) {
  if (state === REFUSED) {
    return h("p", { class: "standing failed" }, "Your judgement was not saved.");
  }
  if (mine === null) return null;
  return h(
    "p",
    { class: `standing ${mine ? "for" : "against"}` },
    sign(mine ? "✓ " : "✕ "),
    `You judged it ${verdict(mine)} (${state === SAVED ? "saved" : "saving …"}).`,
  );
}

export const judgementWords = ({ user, relevant, at }) => [
  sign(relevant ? "✓ " : "✕ "),
  written(user),
  `: ${verdict(relevant)}, `,
  when(at),
];

/** The buttons; without `move` only those that judge. */
function judging(entry, { judge, move, undo }) {
  const act = (label, key, attributes, run) =>
    button(
      [label, " ", h("kbd", { "aria-hidden": "true" }, key)],
      { data: { key }, "aria-keyshortcuts": key, ...attributes },
      run,
    );
  const decide = (label, key, relevant) =>
    act(
      label,
      key,
      {
        class: `verdict ${relevant ? "for" : "against"}`,
        "aria-label": relevant ? "Relevant" : "Not relevant",
        "aria-pressed": String(entry.mine === relevant),
      },
      () => judge(relevant),
    );
  const undoing = {
    class: "quiet",
    "aria-label": "Undo",
    title: "Undo the last judgement (U)",
    disabled: undo === null,
  };
  return h(
    "div",
    { class: "judging", role: "group", "aria-label": "Judge" },
    move &&
      act([sign("←"), unseen("Previous")], "K", { class: "icon", title: "Previous (K)" }, () =>
        move(-1),
      ),
    decide([sign("✕ "), "Not relevant"], "N", false),
    decide([sign("✓ "), "Relevant"], "R", true),
    move &&
      act([sign("→"), unseen("Next")], "J", { class: "icon", title: "Next (J)" }, () => move(1)),
    act([sign("↶"), h("span", { class: "long" }, " Undo")], "U", undoing, () => undo?.()),
  );
}

/** Probability, reason and words. */
export function drawEvidence(place, entry, teach) {
  const [, sentence] = reason(entry);
  const strongest = Math.max(...entry.words.map(({ weight }) => Math.abs(weight)), 0);
  const side = wanted =>
    entry.words.filter(({ weight }) => weight > 0 === wanted && weight !== 0).slice(0, SHOWN_WORDS);
  place.replaceChildren(
    h(
      "section",
      {},
      h("h3", {}, "Probability of relevance"),
      h(
        "p",
        { class: "probability" },
        h("strong", {}, percent(entry.probability)),
        Number.isFinite(entry.low) &&
          h(
            "span",
            {},
            `${percent(entry.low)} to ${percent(entry.high)}`,
            unseen(" with 90% certainty"),
          ),
      ),
      probabilityBar(entry),
      h("p", { class: "soft" }, sentence),
    ),
    h(
      "section",
      {},
      h("h3", {}, "Words behind the score"),
      entry.words.length
        ? [
            wordList("For", side(true), strongest, teach),
            wordList("Against", side(false), strongest, teach),
          ]
        : h("p", { class: "soft" }, "This document has no word that the filter knows."),
    ),
  );
}

export function wordList(label, words, strongest, teach, heading = "h4") {
  if (!words.length) return null;
  return h(
    "div",
    { class: "words" },
    h(heading, {}, label),
    h(
      "ul",
      {},
      words.map(({ word, weight }) =>
        h(
          "li",
          {},
          h("span", { class: "word" }, written(word)),
          weightBar(weight, strongest),
          h("span", { class: "weight" }, signed(weight)),
          teach && teachButtons(word, teach),
        ),
      ),
    ),
  );
}

function teachButtons(word, teach) {
  const one = (glyph, side, strength) =>
    button(
      sign(glyph),
      {
        class: "icon small",
        "aria-label": `Set the keyword ${word} as evidence ${side}`,
        title: `evidence ${side}`,
        data: { key: `${side}-${word}` },
      },
      () => teach(word, strength),
    );
  return h("span", { class: "teach-buttons" }, one("+", "for", 1), one("−", "against", -1));
}

/** How many are left, and whether one may stop. */
export function drawStopping(place, stopping) {
  const known = stopping.left !== null;
  const headline = !known ? "Cannot tell yet" : stopping.stop ? "You may stop" : "Go on judging";
  place.replaceChildren(
    h(
      "section",
      { class: "stopping" },
      h("h3", {}, "When to stop"),
      h(
        "p",
        {},
        h("strong", {}, headline),
        ` · ${plural(stopping.found, "relevant document")} found`,
      ),
      known && stoppingGauge({ ...stopping, low: stopping.left_low, high: stopping.left_high }),
      h("p", { class: "soft" }, `${capital(stopping.sentence)}.`),
    ),
  );
}

export function drawNothing(place, filter, asking) {
  if (asking) {
    return place.replaceChildren(h("p", { class: "loading", role: "status" }, "Loading more …"));
  }
  const others = filter.waiting > 0;
  return place.replaceChildren(
    h(
      "section",
      { class: "empty" },
      h("h2", { tabindex: "-1" }, others ? "Other reviewers have the rest" : "Nothing to judge"),
      h(
        "p",
        {},
        others
          ? `${plural(filter.waiting, "document")} wait, all in the queues of other reviewers. Those they leave appear here.`
          : filter.counters.seen
            ? "Nothing new was retrieved. New documents appear here by themselves."
            : "No documents were added yet.",
      ),
      h(
        "p",
        { class: "row" },
        mayDo("reviewer") && h("a", { class: "button", href: "#/add" }, "Add documents"),
        h("a", { class: "button quiet", href: filterLink(filter.name, "overview") }, "Overview"),
      ),
    ),
  );
}
