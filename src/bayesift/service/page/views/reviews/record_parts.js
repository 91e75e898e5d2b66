// A bibliographic record on the page: title, authors, where it appeared, links, abstract, notes, decisions.

import { api } from "../../api.js";
import { h, when, written } from "../../dom.js";
import { percent } from "../../format.js";
import { chosenWords, markedLine, markedText } from "../../highlight.js";

export const VERDICTS = { included: "included", excluded: "excluded", maybe: "maybe" };
export const STATUS = {
  open: "not yet decided",
  waiting: "waits for a second reviewer",
  conflict: "conflict",
  included: "included",
  excluded: "excluded",
  maybe: "maybe",
};
const SIDE = { included: "for", excluded: "against" };

export const statusTag = status =>
  h("span", { class: `standing ${SIDE[status] ?? ""}` }, STATUS[status]);

/** Title, source, links and abstract, which may be folded away; `words` are marked, and those that the review highlights. */
export function recordText(review, record, words = [], { folded = false } = {}) {
  const { reference } = record;
  const chosen = chosenWords(review.highlight_include, review.highlight_exclude);
  const text = h(
    "div",
    { class: "text" },
    reference.abstract
      ? markedText(reference.abstract, words, chosen)
      : h("p", { class: "soft" }, "No abstract."),
  );
  return [
    h(
      "p",
      { class: "meta" },
      h("span", {}, `Record ${record.id}`),
      record.has_text
        ? [
            h("span", {}, `rank ${record.rank}`),
            h(
              "span",
              { title: "How probable it is that the record is relevant, by the decisions so far" },
              `${percent(record.probability)} likely relevant`,
            ),
          ]
        : h("span", {}, "no title, abstract or keywords: not ranked"),
      record.status !== "open" && statusTag(record.status),
      record.tags.map(tag => h("span", { class: "tag" }, written(tag))),
    ),
    h(
      "h2",
      { tabindex: "-1" },
      reference.title ? markedLine(reference.title, words, chosen) : "(no title)",
    ),
    h("p", { class: "byline" }, written(byline(reference))),
    h(
      "p",
      { class: "links row" },
      links(reference),
      fullText(record.full_text),
      pdfLink(review, record),
    ),
    folded ? h("details", {}, h("summary", {}, "Abstract"), text) : text,
    reference.keywords.length > 0 &&
      h("p", { class: "soft" }, "Keywords: ", written(reference.keywords.join("; "))),
  ];
}

export function byline(reference) {
  const authors =
    reference.authors.slice(0, 6).join("; ") + (reference.authors.length > 6 ? " et al." : "");
  const issue = [reference.volume, reference.issue && `(${reference.issue})`]
    .filter(Boolean)
    .join("");
  const where = [reference.journal, reference.year, issue, reference.pages]
    .filter(Boolean)
    .join(", ");
  return [authors, where].filter(Boolean).join(" · ");
}

const outside = (href, text) =>
  h("a", { href, target: "_blank", rel: "noreferrer noopener" }, text);
const isLink = text => /^https?:\/\//i.test(text);

const fullText = place =>
  place &&
  (isLink(place) ? outside(place, "Full text") : h("span", {}, "Full text: ", written(place)));

/** The PDF that is attached; it opens beside this page, on a page of its own. */
const pdfLink = (review, { id, file }) =>
  file && outside(api.fullTextFile(review.id, id), `PDF: ${file.name}`);

function links({ doi, pmid, url }) {
  return [
    doi &&
      outside(`https://doi.org/${doi.split("/").map(encodeURIComponent).join("/")}`, `doi:${doi}`),
    pmid &&
      /^\d+$/.test(pmid) &&
      outside(`https://pubmed.ncbi.nlm.nih.gov/${pmid}/`, `PubMed ${pmid}`),
    isLink(url) && outside(url, "Full text or source"),
  ];
}

/** What is sought, always in view beside the record; on a small screen it is folded at first. */
export function criteriaPanel({ query, criteria, reasons }) {
  return h(
    "details",
    { class: "criteria", open: !matchMedia("(max-width: 56rem)").matches },
    h("summary", {}, h("h3", {}, "Criteria")),
    query && h("p", { class: "soft" }, query),
    criteria
      ? criteria
          .split("\n")
          .filter(Boolean)
          .map(line => h("p", {}, line))
      : !query && h("p", { class: "soft" }, "No criteria are set; see Settings."),
    reasons.length > 0 && [
      h("h4", {}, "Reasons to exclude"),
      h(
        "ol",
        { class: "reasons" },
        reasons.map((reason, index) => h("li", {}, h("kbd", {}, String(index + 1)), " ", reason)),
      ),
    ],
  );
}

/** What people decided and noted, as far as it is not blind. */
export function recordHistory(record) {
  const hidden =
    record.hidden &&
    h("p", { class: "soft" }, "Another reviewer has decided; their decision is shown after yours.");
  return h(
    "div",
    { class: "history" },
    record.decisions.length > 0 &&
      h(
        "ul",
        { class: "rows" },
        record.decisions.map(decision =>
          h(
            "li",
            {},
            h("span", { class: `standing ${SIDE[decision.verdict] ?? ""}` }, decision.verdict),
            h(
              "span",
              { class: "grow" },
              written(decision.by),
              decision.resolved ? " resolved the conflict" : "",
              decision.reasons.length > 0 &&
                h("span", { class: "soft" }, ` · ${decision.reasons.join("; ")}`),
            ),
            when(decision.at),
          ),
        ),
      ),
    hidden,
    record.notes.map(note =>
      h("p", { class: "note" }, h("strong", {}, written(note.by)), ": ", written(note.text)),
    ),
    record.origins.length > 0 &&
      h(
        "p",
        { class: "soft" },
        record.sources.length > 0 ? `Joined from ${record.sources.length} sources: ` : "From ",
        written(record.origins.join("; ")),
        ".",
      ),
  );
}
