// The words of a filter: those with the largest weights, and the keywords that reviewers set.

import { api, mayDo } from "../../api.js";
import { attempt, button, h, sign, when, written } from "../../dom.js";
import { empty } from "../common/empty.js";
import { framed } from "./frame.js";
import { wordList } from "./queue_parts.js";
import { keywordForm } from "./keywords.js";

const SHOWN = 25;

export async function wordsView({ name }, signal) {
  const learned = h("div", {}),
    taught = h("div", {});
  const refresh = async () => {
    const [terms, words] = await Promise.all([
      api.terms(name, SHOWN, signal),
      api.words(name, signal),
    ]);
    learned.replaceChildren(learnedWords(terms, teach));
    taught.replaceChildren(keywordList(words, teach));
  };
  const teach = async (word, strength) => {
    const done = strength
      ? `“${word}” is now evidence ${strength > 0 ? "for" : "against"} relevance.`
      : `“${word}” is not a keyword any more.`;
    await attempt(() => api.teach(name, word, strength), {
      done,
      failed: `The keyword “${word}” was not saved`,
      then: refresh,
    });
  };
  const [filter] = await Promise.all([api.filter(name, signal), refresh()]);
  return framed(
    filter,
    "words",
    h(
      "div",
      { class: "two words-view" },
      h("section", { class: "card" }, h("h2", {}, "Largest weights"), learned),
      h(
        "section",
        { class: "card" },
        h("h2", {}, "Keywords"),
        mayDo("reviewer") && keywordForm(teach, "A good keyword saves many judgements."),
        taught,
      ),
    ),
  );
}

function learnedWords({ for: speakFor, against }, teach) {
  if (!speakFor.length && !against.length) {
    return empty("No words yet", "Words appear here with the first query, keyword or judgement.");
  }
  const strongest = Math.max(...[...speakFor, ...against].map(({ weight }) => Math.abs(weight)));
  const offer = mayDo("reviewer") ? teach : null;
  return h(
    "div",
    { class: "sides" },
    wordList("Evidence for", speakFor, strongest, offer, "h3"),
    wordList("Evidence against", against, strongest, offer, "h3"),
  );
}

function keywordList(words, teach) {
  if (!words.length) return h("p", { class: "soft" }, "None yet.");
  return h(
    "ul",
    { class: "rows" },
    words.map(({ word, strength, user, at }) =>
      h(
        "li",
        {},
        h(
          "span",
          { class: `standing ${strength > 0 ? "for" : "against"}` },
          sign(strength > 0 ? "+ " : "− "),
          written(word),
        ),
        h(
          "span",
          { class: "soft" },
          strength > 0 ? "evidence for" : "evidence against",
          ", by ",
          written(user),
          " ",
          when(at),
        ),
        mayDo("reviewer") &&
          button("Remove", { class: "quiet", "aria-label": `Remove the keyword ${word}` }, () =>
            teach(word, 0),
          ),
      ),
    ),
  );
}
