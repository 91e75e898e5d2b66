// What the profile has learned: its strongest words, and those people taught it.

import { api, mayDo } from "../api.js";
import { attempt, button, h, sign, when, written } from "../dom.js";
import { empty, framed } from "./frame.js";
import { wordList } from "./review_parts.js";
import { teachForm } from "./teach.js";

const SHOWN = 25;

export async function learnedView({ name }, signal) {
  const learned = h("div", {}), taught = h("div", {});
  const refresh = async () => {
    const [terms, words] = await Promise.all([api.terms(name, SHOWN, signal), api.words(name, signal)]);
    learned.replaceChildren(learnedWords(terms, teach));
    taught.replaceChildren(taughtWords(words, teach));
  };
  const teach = async (word, strength) => {
    const done = strength ? `“${word}” now speaks ${strength > 0 ? "for" : "against"}.` : `“${word}” is no longer taught.`;
    await attempt(() => api.teach(name, word, strength), { done, failed: `“${word}” was not taught`, then: refresh });
  };
  const [profile] = await Promise.all([api.profile(name, signal), refresh()]);
  return framed(profile, "learned", h("div", { class: "two learned" },
    h("section", { class: "card" }, h("h2", {}, "Strongest words"), learned),
    h("section", { class: "card" }, h("h2", {}, "Taught by people"), mayDo("reviewer") && teachForm(teach, "A word you are sure about saves many judgements."), taught)));
}

function learnedWords({ for: speakFor, against }, teach) {
  if (!speakFor.length && !against.length) return empty("Nothing yet", "Words appear here with the first query, taught word or judgement.");
  const strongest = Math.max(...[...speakFor, ...against].map(({ weight }) => Math.abs(weight)));
  const offer = mayDo("reviewer") ? teach : null;
  return h("div", { class: "sides" }, wordList("Speak for", speakFor, strongest, offer, "h3"), wordList("Speak against", against, strongest, offer, "h3"));
}

function taughtWords(words, teach) {
  if (!words.length) return h("p", { class: "soft" }, "None so far.");
  return h("ul", { class: "rows" }, words.map(({ word, strength, user, at }) => h("li", {},
    h("span", { class: `standing ${strength > 0 ? "for" : "against"}` }, sign(strength > 0 ? "+ " : "− "), written(word)),
    h("span", { class: "soft" }, strength > 0 ? "speaks for" : "speaks against", ", by ", written(user), " ", when(at)),
    mayDo("reviewer") && button("Take back", { class: "quiet", "aria-label": `Take back: ${word}` }, () => teach(word, 0)))));
}
