// How far a review is, the flow of records, agreement, exports; and its settings.

import { api, mayDo } from "../../api.js";
import { learningCurve, stoppingGauge } from "../../charts.js";
import { attempt, button, field, h, openDialog, written } from "../../dom.js";
import { capital, count, duration, percent } from "../../format.js";
import { membersCard } from "../common/members.js";
import { framedReview, reviewLink } from "./frame.js";

const FORMATS = [
  ["ris", "RIS (EndNote, Zotero, Rayyan)"],
  ["csv", "CSV"],
  ["xlsx", "Excel"],
  ["bib", "BibTeX"],
];
const PARTS = [
  ["", "all records"],
  ["only=included", "included"],
  ["only=included&only=maybe", "included and maybe"],
  ["only=excluded", "excluded"],
  ["only=waiting", "waiting for a second reviewer"],
  ["only=conflict", "in conflict"],
  ["only=open", "not yet decided"],
];

export async function reviewNumbersView({ id }, signal) {
  const [review, numbers] = await Promise.all([api.review(id, signal), api.statistics(id, signal)]);
  const { progress } = review;
  const twice = review.reviewers_per_record > 1;
  const figures = [
    ["records", progress.records],
    ["included", progress.included],
    ["maybe", progress.maybe],
    ["excluded", progress.excluded],
    ...(twice ? [["wait for a second reviewer", progress.waiting]] : []),
    ...(twice ? [["in conflict", progress.conflicts]] : []),
    ["not yet decided", progress.open],
  ];
  return framedReview(
    review,
    "numbers",
    h(
      "div",
      {},
      h(
        "section",
        { class: "card" },
        h("h2", {}, "What is left"),
        progress.gauge.left !== null && stoppingGauge(progress.gauge),
        h("p", {}, `${capital(progress.gauge.sentence)}.`),
        readingCosts(progress.gauge),
        review.stopped !== null &&
          h("p", {}, h("strong", {}, "Stopped: "), written(review.stopped)),
        mayDo("reviewer", review) && stopButton(review),
      ),
      h(
        "dl",
        { class: "tiles" },
        figures.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, count(value)))),
      ),
      mayDo("reviewer", review) && tallyCard(progress.tally, twice),
      h(
        "div",
        { class: "two" },
        h(
          "section",
          { class: "card" },
          h("h2", {}, "Flow of records (PRISMA 2020)"),
          h(
            "picture",
            {},
            h("source", {
              media: "(max-width: 45rem)",
              srcset: api.reviewFile(id, "flow.svg?narrow=true"),
            }),
            h("img", {
              class: "flow",
              src: api.reviewFile(id, "flow.svg"),
              alt: flowWords(numbers.flow),
            }),
          ),
          h(
            "p",
            {},
            h("a", { href: api.reviewFile(id, "flow.svg"), download: "" }, "Download as SVG"),
          ),
        ),
        h(
          "div",
          { class: "stack" },
          exportCard(id),
          reviewersCard(numbers),
          numbers.agreement.map(agreementCard),
        ),
      ),
      numbers.curve.length > 1 &&
        h(
          "section",
          { class: "card" },
          h("h2", {}, "Finds and recall"),
          learningCurve(
            numbers.curve.map(([judged, relevant]) => ({ judged, relevant })),
            signal,
            {
              noun: "record",
              whole:
                progress.gauge.left === null ? null : progress.gauge.found + progress.gauge.left,
            },
          ),
        ),
      hindsightCard(id, signal),
      h(
        "section",
        { class: "card" },
        h("h2", {}, "For the methods section"),
        h("p", { class: "query methods" }, numbers.methods),
        copyButton(numbers.methods),
      ),
    ),
  );
}

/** Where the review could have ended, computed when it is asked for. */
function hindsightCard(id, signal) {
  const shown = h("div", { "aria-live": "polite" });
  const look = button("Look back", {}, () =>
    attempt(
      async () => {
        look.disabled = true;
        const found = await api.hindsight(id, signal).finally(() => (look.disabled = false));
        shown.replaceChildren(...hindsightParts(id, found, signal));
      },
      { failed: "Not computed" },
    ),
  );
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Where could it have stopped?"),
    h(
      "p",
      { class: "soft" },
      "Takes the decisions in the order in which they were made, and says where stopping rules would have ended the review and what they would have missed.",
    ),
    h("p", {}, look),
    shown,
  );
}

function hindsightParts(id, { sentences, curve, ends }, signal) {
  const stops = ends.flatMap(({ read, rule }, index) =>
    read === null ? [] : [{ at: read, label: `${index + 1}: ${count(read)} read`, rule }],
  );
  const points = curve.map(([judged, relevant]) => ({ judged, relevant }));
  return [
    ...sentences.map(sentence => h("p", {}, sentence)),
    ...(curve.length > 1 ? [learningCurve(points, signal, { noun: "record", stops })] : []),
    ...(stops.length
      ? [
          h(
            "p",
            { class: "soft" },
            `Lines in the chart: ${stops.map(({ label, rule }) => `${label.split(":")[0]}, ${rule}`).join("; ")}.`,
          ),
        ]
      : []),
    ...ends.filter(({ missed }) => missed.length).map(end => missedList(id, end)),
  ];
}

const missedList = (id, { rule, missed }) =>
  h(
    "details",
    {},
    h("summary", {}, `Relevant records read after the end by ${rule} (${count(missed.length)})`),
    h(
      "ul",
      { class: "rows" },
      missed.map(record =>
        h(
          "li",
          {},
          h(
            "a",
            { href: reviewLink(id, "record", record.id) },
            written(record.title || `record ${record.id}`),
          ),
        ),
      ),
    ),
  );

/** @param {any} flow */
const flowWords = ({ records, screened, included, abstract, without_text }) =>
  [
    `${count(records)} records`,
    `${count(screened)} screened`,
    abstract.waiting && `${count(abstract.waiting)} waiting for a second reviewer`,
    abstract.conflict && `${count(abstract.conflict)} in conflict`,
    without_text && `${count(without_text)} without title and abstract, listed apart`,
    `${count(included)} included`,
  ]
    .filter(Boolean)
    .join(", ");

/** What the person who looks has decided. */
const tallyCard = (tally, twice) =>
  h(
    "section",
    { class: "card" },
    h("h2", {}, "Your decisions"),
    h(
      "dl",
      { class: "counts" },
      [
        ["included", tally.included],
        ["maybe", tally.maybe],
        ["excluded", tally.excluded],
        ...(twice ? [["of these wait for another reviewer", tally.waiting]] : []),
      ].map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, count(value)))),
    ),
  );

/** What it costs to be surer that the recall is reached. */
function readingCosts({ recall, more_reading, safe_reading }) {
  const costs = more_reading.map(
    ({ probability, records }) => `${count(records)} for ${percent(probability)}`,
  );
  return (
    costs.length > 0 &&
    h(
      "p",
      { class: "soft" },
      `To be surer of ${percent(recall)} recall, irrelevant records to read in a row: ${costs.join(", ")}; ${count(safe_reading)} by the rule of Callaghan and Müller-Hansen, which needs no model.`,
    )
  );
}

function stopButton(review) {
  if (review.stopped !== null) {
    return button("Go on screening", {}, () =>
      attempt(() => api.resumeReview(review.id), { failed: "Not done", then: reload }),
    );
  }
  return button("Stop screening …", {}, () => {
    const reason = h("textarea", { rows: "3", required: true, maxlength: "2000" });
    const submit = event => {
      event.preventDefault();
      dialog.close();
      attempt(() => api.stopReview(review.id, reason.value.trim()), {
        done: "The screening is stopped.",
        failed: "Not stopped",
        then: reload,
      });
    };
    const dialog = openDialog(
      "Stop screening",
      h("p", {}, review.progress.gauge.sentence),
      h(
        "form",
        { on: { submit } },
        field(
          "Why do you stop here?",
          reason,
          "It goes into the methods paragraph and the audit trail.",
        ),
        h(
          "p",
          { class: "row" },
          h("button", { type: "submit", class: "primary" }, "Stop"),
          button("Cancel", {}, () => dialog.close()),
        ),
      ),
    );
  });
}

const reload = async () => {
  window.dispatchEvent(new HashChangeEvent("hashchange"));
};

function exportCard(id) {
  const format = h(
    "select",
    {},
    FORMATS.map(([key, name]) => h("option", { value: key }, name)),
  );
  const part = h(
    "select",
    {},
    PARTS.map(([key, name]) => h("option", { value: key }, name)),
  );
  const link = h("a", { class: "button primary", download: "" }, "Download");
  const update = () =>
    link.setAttribute(
      "href",
      `${api.reviewFile(id, `records.${format.value}`)}${part.value && `?${part.value}`}`,
    );
  for (const input of [format, part]) input.addEventListener("change", update);
  update();
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Export"),
    h("div", { class: "pair" }, field("Format", format), field("Records", part)),
    h("p", {}, link),
    h(
      "p",
      { class: "row" },
      h("a", { href: api.reviewFile(id, "audit.csv"), download: "" }, "Audit trail (CSV)"),
      h(
        "a",
        { href: api.reviewFile(id, "project.zip"), download: "" },
        "Project for the command line",
      ),
    ),
  );
}

const reviewersCard = ({ reviewers }) =>
  h(
    "section",
    { class: "card" },
    h("h2", {}, "Reviewers"),
    reviewers.length
      ? h(
          "ul",
          { class: "rows" },
          reviewers.map(each =>
            h(
              "li",
              {},
              h("span", { class: "grow" }, written(each.name)),
              h(
                "span",
                { class: "soft" },
                [
                  `${count(each.decisions)} decided`,
                  each.not_excluded !== null && `${percent(each.not_excluded)} not excluded`,
                  each.median_seconds !== null &&
                    `${each.median_seconds.toFixed(0)} s each, ${duration(each.hours)} in all`,
                  each.waiting_for_others > 0 &&
                    `waits for others: ${count(each.waiting_for_others)}`,
                  each.others_waiting > 0 && `others wait: ${count(each.others_waiting)}`,
                ]
                  .filter(Boolean)
                  .join(", "),
              ),
            ),
          ),
        )
      : h("p", { class: "soft" }, "No decisions yet."),
  );

const agreementCard = found =>
  h(
    "section",
    { class: "card" },
    h("h2", {}, found.stage === "abstract" ? "Agreement" : "Agreement on full texts"),
    h(
      "dl",
      { class: "counts" },
      [
        ["records", count(found.records)],
        ["same", share(found.agreement)],
        ["kappa", number(found.kappa)],
        ["AC1", number(found.ac1)],
        ["alpha", number(found.alpha)],
      ].map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
    ),
  );

const share = value => (value === null ? "–" : percent(value));
const number = value => (value === null ? "–" : value.toFixed(2));

function copyButton(text) {
  const copy = button("Copy", {}, async () => {
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(document.querySelector(".methods"));
    }
  });
  return h("p", {}, copy);
}

export async function reviewSettingsView({ id }, signal) {
  const review = await api.review(id, signal);
  const isOwner = mayDo("owner", review);
  const members = await membersCard(`reviews/${id}`, review, signal);
  const inputs = settingsInputs(review);
  const name = h("input", {
    required: true,
    maxlength: "100",
    autocomplete: "off",
    value: review.name,
  });
  const save = event => {
    event.preventDefault();
    attempt(() => api.changeReview(id, { name: name.value.trim(), settings: settingsOf(inputs) }), {
      done: "Saved.",
      failed: "Not saved",
      then: reload,
    });
  };
  const remove = () =>
    attempt(() => api.deleteReview(id), {
      done: `“${review.name}” is deleted; it can be restored for 30 days.`,
      failed: "Not deleted",
      then: async () => {
        location.hash = "#/reviews";
      },
    });
  return framedReview(
    review,
    "settings",
    h(
      "div",
      { class: "narrow" },
      isOwner &&
        h(
          "form",
          { class: "card form", on: { submit: save } },
          field("Name", name),
          settingsFields(inputs),
          h("p", {}, h("button", { type: "submit", class: "primary" }, "Save")),
        ),
      members,
      isOwner &&
        h(
          "section",
          { class: "card" },
          h("h2", {}, "Delete"),
          h("p", { class: "soft" }, "The review can be restored for 30 days."),
          button("Delete this review", { class: "danger" }, remove),
        ),
    ),
  );
}

/** The inputs of what is looked for and how it is screened. */
export function settingsInputs({
  query = "",
  criteria = "",
  reasons = [],
  reviewers_per_record = 1,
  full_texts = false,
  highlight_include = [],
  highlight_exclude = [],
} = {}) {
  const inputs = {
    query: h("textarea", { rows: "2", maxlength: "5000" }),
    criteria: h("textarea", { rows: "4", maxlength: "20000" }),
    reasons: h("textarea", { rows: "4" }),
    double: h("input", { type: "checkbox", id: "double", checked: reviewers_per_record === 2 }),
    fullTexts: h("input", { type: "checkbox", id: "full-texts", checked: full_texts }),
    include: h("textarea", { rows: "2" }),
    exclude: h("textarea", { rows: "2" }),
  };
  inputs.include.value = highlight_include.join(", ");
  inputs.exclude.value = highlight_exclude.join(", ");
  [inputs.query.value, inputs.criteria.value, inputs.reasons.value] = [
    query,
    criteria,
    reasons.join("\n"),
  ];
  return inputs;
}

export const settingsFields = inputs => [
  field(
    "What are you looking for?",
    inputs.query,
    "Words or a sentence. Records are ranked by it before the first decision.",
  ),
  field("Inclusion criteria", inputs.criteria, "One per line; shown beside every record."),
  field("Reasons to exclude", inputs.reasons, "One per line; chosen by number while screening."),
  field(
    "Words to highlight for inclusion",
    inputs.include,
    "With commas; random* is every word that begins so. For the eye only: they do not change the ranking.",
  ),
  field("Words to highlight for exclusion", inputs.exclude),
  h(
    "p",
    { class: "check" },
    inputs.double,
    h(
      "label",
      { for: "double" },
      "Two reviewers decide on every record, blind until both have decided",
    ),
  ),
  h(
    "p",
    { class: "check" },
    inputs.fullTexts,
    h("label", { for: "full-texts" }, "Screen full texts after titles and abstracts"),
  ),
];

const terms = input => [
  ...new Set(
    input.value
      .split(/[,;\n]/)
      .map(term => term.trim().replace(/\s+/g, " "))
      .filter(Boolean),
  ),
];

export const settingsOf = ({ query, criteria, reasons, double, fullTexts, include, exclude }) => ({
  query: query.value.trim(),
  criteria: criteria.value.trim(),
  reasons: reasons.value
    .split("\n")
    .map(line => line.trim())
    .filter(Boolean),
  reviewers_per_record: double.checked ? 2 : 1,
  full_texts: fullTexts.checked,
  highlight_include: terms(include),
  highlight_exclude: terms(exclude),
});
