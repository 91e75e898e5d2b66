// Documents on which reviewers disagree.

import { api } from "../../api.js";
import { h, written } from "../../dom.js";
import { titleOf } from "../../format.js";
import { empty } from "../common/empty.js";
import { framed, filterLink } from "./frame.js";
import { judgementWords } from "./queue_parts.js";

export async function conflictsView({ name }, signal) {
  const [filter, conflicts] = await Promise.all([
    api.filter(name, signal),
    api.conflicts(name, signal),
  ]);
  return framed(
    filter,
    "conflicts",
    conflicts.length
      ? h(
          "ul",
          { class: "stack" },
          conflicts.map(conflict => conflictCard(name, conflict)),
        )
      : empty(
          "No conflicts",
          "Documents that two reviewers judge differently are listed here with both judgements.",
        ),
  );
}

const conflictCard = (name, { document: paper, judgements }) =>
  h(
    "li",
    { class: "card" },
    h("h2", {}, h("a", { href: filterLink(name, "document", paper.id) }, written(titleOf(paper)))),
    h(
      "ul",
      { class: "rows" },
      judgements.map(judgement =>
        h(
          "li",
          { class: `standing ${judgement.relevant ? "for" : "against"}` },
          h("span", {}, judgementWords(judgement)),
        ),
      ),
    ),
  );
