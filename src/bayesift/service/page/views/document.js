// One document, what the profile thinks of it now, and what people said; reviewers may say something too.

import { api, session } from "../api.js";
import { h, notify } from "../dom.js";
import { shortcut } from "../help.js";
import { deliver, outcomes } from "../outbox.js";
import { NONE, SAVED, SAVING } from "../review_list.js";
import { framed } from "./frame.js";
import { drawEvidence, drawPaper } from "./review_parts.js";

export async function documentView({ name, about }, signal) {
  const place = h("article", { class: "paper" });
  const evidence = h("div", { class: "evidence-part" });
  const load = async () => {
    const entry = mineApart(await api.explanation(name, about, signal));
    drawEvidence(evidence, entry, null);
    draw(place, name, entry);
    return entry;
  };
  const [profile] = await Promise.all([api.profile(name, signal), load()]);
  outcomes.addEventListener("saved", ({ detail: { deed, answer } }) => {
    if (deed.profile !== name || deed.document !== about) return;
    if (answer?.conflict) notify("Another reviewer judged this document differently. Both judgements are kept; see Conflicts.", { kind: "warn" });
    load().catch(() => {});
  }, { signal });
  window.addEventListener("keydown", event => place.querySelector(`[data-key="${shortcut(event)?.toUpperCase()}"]`)?.click(), { signal });
  const aside = h("aside", { class: "evidence", "aria-label": "What the profile thinks" }, evidence);
  return framed(profile, "document", h("div", { class: "review single" }, place, aside), { wide: true });
}

/** My own judgement is shown apart from those of others. */
function mineApart(entry) {
  const mine = entry.judgements.find(({ user }) => user === session.value?.user);
  return { ...entry, judgements: entry.judgements.filter(judgement => judgement !== mine), mine: mine?.relevant ?? null, state: mine ? SAVED : NONE };
}

function draw(place, name, entry) {
  const say = (deed, mine) => {
    deliver({ ...deed, profile: name, document: entry.document.id, user: session.value.user, known: entry.mine !== null });
    draw(place, name, { ...entry, mine, state: SAVING });
  };
  const judge = relevant => say({ kind: "judge", relevant }, relevant);
  drawPaper(place, entry, { judge, move: null, undo: entry.mine === null ? null : () => say({ kind: "undo" }, null) });
}
