// All records of a review: search, filter by status, read any of them; conflicts, to be resolved.

import { api, mayDo, session } from "../../api.js";
import { attempt, button, field, h, newest, notify, written } from "../../dom.js";
import { percent, plural } from "../../format.js";
import { deliver, onOutcome } from "../../outbox.js";
import { askFullText, askJoin, askNote, askReason, askTags } from "./record_dialogs.js";
import { STATUS, criteriaPanel, recordHistory, recordText, statusTag } from "./record_parts.js";
import { empty } from "../common/empty.js";
import { STAGES, framedReview, reviewLink } from "./frame.js";

const PAGE = 50;
const WITHOUT_TEXT = "without text";

export async function recordsView({ id }, signal) {
  const review = await api.review(id, signal);
  const search = h("input", {
    type: "search",
    name: "search",
    autocomplete: "off",
    "data-focus": true,
  });
  const status = h(
    "select",
    { name: "status" },
    h("option", { value: "" }, "all"),
    Object.entries(STATUS).map(([key, name]) => h("option", { value: key }, name)),
    h("option", { value: WITHOUT_TEXT }, "without title and abstract"),
  );
  const stage = h(
    "select",
    { name: "stage" },
    STAGES.map(([key, name]) => h("option", { value: key }, name)),
  );
  const tag = h(
    "select",
    { name: "tag" },
    h("option", { value: "" }, "all"),
    review.tags.map(name => h("option", { value: name }, name)),
  );
  const list = h("div", { "aria-live": "polite" });
  let offset = 0;
  const refresh = newest(
    () =>
      api.records(
        id,
        {
          search: search.value,
          status: status.value === WITHOUT_TEXT ? "" : status.value,
          without_text: status.value === WITHOUT_TEXT,
          stage: stage.value,
          tag: tag.value,
          offset,
          limit: PAGE,
        },
        signal,
      ),
    found =>
      list.replaceChildren(
        h("p", { class: "soft" }, plural(found.total, "record")),
        rows(id, found.records),
        pager(found.total),
      ),
  );
  const again = () => {
    offset = 0;
    refresh().catch(() => {});
  };
  const turn = step => {
    offset += step;
    refresh().catch(() => {});
  };
  const pager = total =>
    h(
      "p",
      { class: "row" },
      offset > 0 && button("Previous", {}, () => turn(-PAGE)),
      offset + PAGE < total && button("Next", {}, () => turn(PAGE)),
    );
  let timer = null;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(again, 250);
  });
  for (const choice of [status, stage, tag]) choice.addEventListener("change", again);
  await refresh();
  return framedReview(
    review,
    "records",
    h(
      "section",
      { class: "card" },
      h(
        "div",
        { class: "pair bottom" },
        field("Search titles, abstracts, authors, DOIs", search),
        field("Status", status),
        review.full_texts && field("Stage", stage),
        review.tags.length > 0 && field("Tag", tag),
      ),
      list,
    ),
  );
}

const rows = (id, records) =>
  h(
    "ul",
    { class: "rows records" },
    records.map(record =>
      h(
        "li",
        {},
        h(
          "span",
          { class: "grow" },
          h(
            "a",
            { href: reviewLink(id, "record", record.id) },
            written(record.title || "(no title)"),
          ),
          h("br"),
          h(
            "span",
            { class: "soft" },
            written(
              [record.authors, record.journal, record.year, record.origin]
                .filter(Boolean)
                .join(", "),
            ),
          ),
        ),
        record.tags.map(tag => h("span", { class: "tag" }, written(tag))),
        h(
          "span",
          { class: "soft" },
          record.has_text ? `rank ${record.rank}, ${percent(record.probability)}` : "not ranked",
        ),
        statusTag(record.status),
      ),
    ),
  );

export async function recordView({ id, about }, signal) {
  const [review, record] = await Promise.all([
    api.review(id, signal),
    api.record(id, about, signal),
  ]);
  const content = h("div", { class: "reading single" });
  const draw = shown =>
    content.replaceChildren(
      h(
        "article",
        { class: "paper" },
        recordText(review, shown),
        recordHistory(shown),
        mayDo("reviewer", review) && decisionButtons(review, shown),
      ),
      h(
        "aside",
        { class: "screening-side", "aria-label": "Criteria and this record" },
        criteriaPanel(review),
        mayDo("reviewer", review) && recordTools(review, shown, draw),
      ),
    );
  draw(record);
  onOutcome(
    "saved",
    ({ change, answer }) => {
      if (change.kind !== "decide" || change.review !== id || change.record !== about) return;
      draw(answer);
      notify(`Record ${about}: ${change.verdict}.`);
    },
    signal,
  );
  return framedReview(review, "record", content, { wide: true });
}

function recordTools(review, record, draw) {
  const send = run => attempt(async () => draw(await run()), { failed: "Not done" });
  const tool = (label, dialog) => button(label, {}, () => dialog(review, record, send));
  return h(
    "div",
    { class: "evidence" },
    h(
      "section",
      {},
      h("h3", {}, "This record"),
      h(
        "p",
        { class: "row" },
        tool("Note", askNote),
        tool("Tags", askTags),
        tool("Full text", askFullText),
        tool("Duplicate", askJoin),
        record.sources.length > 0 &&
          button("Split", {}, () => send(() => api.split(review.id, record.id))),
      ),
    ),
  );
}

function decisionButtons(review, record) {
  const send = (verdict, reasons = []) =>
    deliver({
      kind: "decide",
      review: review.id,
      record: record.id,
      stage: "abstract",
      verdict,
      reasons,
      user: session.value.user,
    });
  return h(
    "div",
    { class: "judging" },
    [
      ["included", "Include", "for"],
      ["maybe", "Maybe", ""],
      ["excluded", "Exclude", "against"],
    ].map(([verdict, label, side]) =>
      button(
        label,
        { class: `verdict ${side}`, "aria-pressed": String(record.mine === verdict) },
        () => send(verdict),
      ),
    ),
    button(
      ["Reason", h("span", { class: "long" }, " …")],
      { class: "quiet", "aria-label": "Exclude with a reason" },
      () => askReason(review.reasons, reasons => send("excluded", reasons)),
    ),
  );
}

export async function reviewConflictsView({ id }, signal) {
  const review = await api.review(id, signal);
  const stages = review.full_texts ? ["abstract", "full text"] : ["abstract"];
  const list = h("div", { class: "stack" });
  const refresh = async () => {
    const found = [];
    for (const stage of stages) {
      const { records } = await api.records(id, { status: "conflict", stage, limit: 100 }, signal);
      for (const row of records) found.push(await api.record(id, row.id, signal, stage));
    }
    list.replaceChildren(
      ...(found.length
        ? found.map(record => conflict(review, record, refresh))
        : [
            empty(
              "No conflicts",
              "Where two reviewers decide differently, the record appears here.",
            ),
          ]),
    );
  };
  await refresh();
  return framedReview(review, "conflicts", list);
}

function conflict(review, record, refresh) {
  const settle = verdict =>
    attempt(
      () =>
        api.resolve(review.id, {
          record: record.id,
          verdict,
          stage: record.stage,
          reasons: verdict === "excluded" ? reasonsOf(record) : [],
        }),
      { done: `Record ${record.id} is ${verdict}.`, failed: "Not resolved", then: refresh },
    );
  return h(
    "article",
    { class: "card", "aria-label": `Conflict about record ${record.id}` },
    recordText(review, record, [], { folded: true }),
    recordHistory(record),
    mayDo("reviewer", review) &&
      h(
        "p",
        { class: "row" },
        "Decide together, or as a third reviewer: ",
        button("Include", { class: "for" }, () => settle("included")),
        button("Exclude", { class: "against" }, () => settle("excluded")),
      ),
  );
}

const reasonsOf = record => [...new Set(record.decisions.flatMap(decision => decision.reasons))];
