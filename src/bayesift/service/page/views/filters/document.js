// One document: its score, the words behind it, its judgements, and for reviewers the buttons to judge it.

import { api, session } from "../../api.js";
import { h, notify } from "../../dom.js";
import { shortcut } from "../../help.js";
import { deliver, onOutcome } from "../../outbox.js";
import { NONE, SAVED, SAVING } from "./queue_list.js";
import { framed } from "./frame.js";
import { drawEvidence, drawDocument } from "./queue_parts.js";

export async function documentView({ name, about }, signal) {
  const place = h("article", { class: "paper" });
  const evidence = h("div", { class: "evidence-part" });
  const load = async () => {
    const entry = mineApart(await api.explanation(name, about, signal));
    drawEvidence(evidence, entry, null);
    draw(place, name, entry);
    return entry;
  };
  const [filter] = await Promise.all([api.filter(name, signal), load()]);
  onOutcome(
    "saved",
    ({ change, answer }) => {
      if (change.filter !== name || change.document !== about) return;
      if (answer?.conflict) {
        notify(
          "Another reviewer judged this document differently. Both judgements are kept; see Conflicts.",
          { kind: "warn" },
        );
      }
      load().catch(() => {});
    },
    signal,
  );
  window.addEventListener(
    "keydown",
    event => place.querySelector(`[data-key="${shortcut(event)?.toUpperCase()}"]`)?.click(),
    { signal },
  );
  const aside = h("aside", { class: "evidence", "aria-label": "Why this score" }, evidence);
  return framed(filter, "document", h("div", { class: "reading single" }, place, aside), {
    wide: true,
  });
}

/** Separate my own judgement from those of others. */
function mineApart(entry) {
  const mine = entry.judgements.find(({ user }) => user === session.value?.user);
  return {
    ...entry,
    judgements: entry.judgements.filter(judgement => judgement !== mine),
    mine: mine?.relevant ?? null,
    state: mine ? SAVED : NONE,
  };
}

function draw(place, name, entry) {
  const say = (change, mine) => {
    deliver({
      ...change,
      filter: name,
      document: entry.document.id,
      user: session.value.user,
      known: entry.mine !== null,
    });
    draw(place, name, { ...entry, mine, state: SAVING });
  };
  const judge = relevant => say({ kind: "judge", relevant }, relevant);
  drawDocument(place, entry, {
    judge,
    move: null,
    undo: entry.mine === null ? null : () => say({ kind: "undo" }, null),
  });
}
