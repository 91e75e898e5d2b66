// One document and what the profile thinks of it now.

import { api } from "../api.js";
import { h, written } from "../dom.js";
import { markedLine } from "../highlight.js";
import { reason, titleOf } from "../wording.js";
import { framed } from "./frame.js";
import { documentText, drawEvidence, judgementWords } from "./review_parts.js";

export async function documentView({ name, about }, signal) {
  const [profile, entry] = await Promise.all([api.profile(name, signal), api.explanation(name, about, signal)]);
  const evidence = h("div", { class: "evidence-part" });
  drawEvidence(evidence, entry, null);
  const { document: paper, words } = entry;
  const content = h("div", { class: "review single" },
    h("article", { class: "paper" },
      h("header", {},
        h("p", { class: "meta" }, h("span", { class: `tag why-${entry.why}` }, reason(entry)[0]), h("span", { class: "id" }, written(paper.id))),
        h("h2", { dir: "auto" }, paper.title?.trim() ? markedLine(paper.title.trim(), words) : titleOf(paper)),
        entry.judgements.map(judgement => h("p", { class: "standing" }, judgementWords(judgement)))),
      documentText(paper, words)),
    h("aside", { class: "evidence", "aria-label": "What the profile thinks" }, evidence));
  return framed(profile, "document", content, { wide: true });
}
