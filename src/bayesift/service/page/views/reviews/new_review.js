// A new review: drop files or choose records that are here, see what was understood and which are duplicates, say what you look for.

import { api, Problem } from "../../api.js";
import { button, dropZone, field, h, newest, notify, openDialog, say, written } from "../../dom.js";
import { count, percent, plural } from "../../format.js";
import { byline } from "./record_parts.js";
import { reviewLink } from "./frame.js";
import { settingsFields, settingsInputs, settingsOf } from "./numbers.js";

const ACCEPTED =
  ".ris,.nbib,.txt,.enw,.bib,.bibtex,.ciw,.isi,.xml,.csv,.tsv,.xlsx,.jsonl,.ndjson,.parquet";

const ASK_EVERY = 1000; // milliseconds, how far a review is that begins

export function newReviewView(_params, signal) {
  const draft = new Draft(signal);
  return { title: "New review", node: draft.node };
}

class Draft {
  files = [];

  constructor(signal) {
    this.signal = signal;
    this.list = h("div", { class: "upload-report", "aria-live": "polite" });
    this.preview = h("div", {});
    this.name = h("input", { required: true, maxlength: "100", autocomplete: "off" });
    this.join = h("input", { type: "checkbox", id: "join", checked: true });
    this.taken = h("input", { type: "checkbox", id: "taken", checked: true });
    this.inputs = settingsInputs();
    this.error = h("p", { class: "error", role: "alert" });
    this.step = h("div", { role: "status" });
    this.submit = h(
      "button",
      { type: "submit", class: "primary", disabled: true },
      "Begin screening",
    );
    this.node = h(
      "div",
      { class: "narrow" },
      h("h1", {}, "New review"),
      h(
        "section",
        { class: "card" },
        h("h2", {}, "1. Records"),
        dropZone(
          "records",
          ACCEPTED,
          "RIS, PubMed, EndNote, BibTeX, Web of Science, CSV, Excel; several at once",
          files => this.add(files),
        ),
        this.#here(),
        this.list,
        this.preview,
      ),
      h(
        "form",
        { class: "card form", on: { submit: this.begin } },
        h("h2", {}, "2. What you look for"),
        field("Name of the review", this.name),
        settingsFields(this.inputs),
        this.error,
        this.step,
        h(
          "p",
          { class: "row" },
          this.submit,
          h("a", { class: "button quiet", href: "#/reviews" }, "Cancel"),
        ),
      ),
    );
  }

  #here() {
    return h(
      "p",
      { class: "row here" },
      h("span", { class: "soft" }, "Or take records from this service:"),
      button("From a review …", {}, () => this.#choose(reviewChoice)),
      button("From added documents …", {}, () => this.#choose(documentChoice)),
    );
  }

  async #choose(choice) {
    try {
      const { heading, parts, chosen } = await choice(this.signal);
      const submit = event => {
        event.preventDefault();
        dialog.close();
        const { name, run } = chosen();
        this.#read([[name, run]]);
      };
      const dialog = openDialog(
        heading,
        h(
          "form",
          { on: { submit } },
          parts,
          h(
            "p",
            { class: "row" },
            h("button", { type: "submit", class: "primary" }, "Take them"),
            button("Cancel", {}, () => dialog.close()),
          ),
        ),
      );
    } catch (problem) {
      if (!this.signal.aborted) notify(problem.message, { kind: "failed" });
    }
  }

  add = files => this.#read(files.map(file => [file.name, () => api.upload(file, this.signal)]));

  /** Read records from several sources, each with a name. */
  async #read(sources) {
    for (const [name, run] of sources) {
      const row = h(
        "div",
        { class: "upload" },
        h("p", {}, h("strong", {}, name), " ", h("span", { class: "soft" }, "reading …")),
      );
      this.list.append(row);
      try {
        const entry = { ...(await run()), row };
        this.files.push(entry);
        row.replaceChildren(...fileParts(entry, () => this.remove(entry)));
        if (!this.name.value) {
          this.name.value = name
            .replace(/\.[^.]*$/, "")
            .replaceAll("/", " ")
            .trim()
            .slice(0, 100);
        }
      } catch (problem) {
        if (this.signal.aborted) return;
        row.replaceChildren(
          h(
            "p",
            { class: "row" },
            h("strong", { class: "grow" }, name),
            button("Dismiss", { class: "quiet" }, () => row.remove()),
          ),
          h("p", { class: "error" }, `Not read: ${problem.message}`),
        );
      }
    }
    await this.update();
  }

  remove = entry => {
    this.files = this.files.filter(other => other !== entry);
    entry.row.remove();
    this.update();
  };

  get keys() {
    return this.files.map(({ upload }) => upload);
  }

  async update() {
    this.submit.disabled = this.files.length === 0;
    if (!this.files.length) return this.preview.replaceChildren();
    this.preview.replaceChildren(h("p", { class: "soft" }, "Looking for duplicates …"));
    return this.#showPreview();
  }

  #showPreview = newest(
    () => api.previewUploads(this.keys, this.signal).catch(problem => ({ problem })),
    found => {
      if (this.signal.aborted) return;
      this.preview.replaceChildren(
        ...(found.problem
          ? [h("p", { class: "error" }, found.problem.message)]
          : previewParts(found, this.join, this.taken)),
      );
      if (!found.problem) {
        say(
          `${plural(found.records, "record")}, ${plural(found.records - found.after_joining, "duplicate")}.`,
        );
      }
    },
  );

  begin = async event => {
    event.preventDefault();
    this.error.textContent = "";
    this.submit.disabled = true;
    this.submit.textContent = "Beginning …";
    const name = this.name.value.trim();
    const asking = setInterval(() => this.#showStep(name), ASK_EVERY);
    try {
      const review = await api.beginReview({
        name,
        uploads: this.keys,
        settings: settingsOf(this.inputs),
        join_duplicates: this.join.checked,
        take_decisions: this.taken.checked,
      });
      location.hash = reviewLink(review.id);
    } catch (problem) {
      this.error.textContent = `The review was not created: ${problem.message}`;
      this.submit.disabled = false;
      this.submit.textContent = "Begin screening";
    } finally {
      clearInterval(asking);
      this.step.replaceChildren();
    }
  };

  /** Show how far a large review is; an answer that fails is asked for again. */
  async #showStep(name) {
    const all = await api.beginnings(this.signal).catch(() => []);
    const found = all.findLast(each => each.name === name);
    if (!found || this.submit.textContent !== "Beginning …") return;
    const text = found.of
      ? `${found.step}: ${count(found.done)} of ${count(found.of)}`
      : `${found.step} …`;
    const bar = found.of ? { max: found.of, value: found.done } : {};
    this.step.replaceChildren(h("p", {}, text), h("progress", { ...bar, "aria-label": text }));
  }
}

const options = pairs => pairs.map(([value, label]) => h("option", { value }, label));
const check = (input, label) =>
  h("p", { class: "check" }, input, h("label", { for: input.id }, label));

/** Records of another review: which review, which records, with their decisions or without. */
async function reviewChoice(signal) {
  const reviews = await api.reviews(signal);
  if (!reviews.length) throw new Problem(0, "There are no reviews yet.");
  const review = h(
    "select",
    {},
    options(reviews.map(({ id, name, records }) => [id, `${name} (${plural(records, "record")})`])),
  );
  const part = h(
    "select",
    {},
    options([
      ["", "all records"],
      ["included", "included"],
      ["included maybe", "included and maybe"],
      ["excluded", "excluded"],
      ["open waiting conflict", "not decided for good"],
    ]),
  );
  const decisions = h("input", { type: "checkbox", id: "with-decisions" });
  return {
    heading: "Records of a review",
    parts: [
      field("Review", review),
      field("Records", part),
      check(decisions, "With their decisions"),
    ],
    chosen: () => ({
      name: reviews[review.selectedIndex].name,
      run: () =>
        api.chooseReview(
          {
            review: review.value,
            only: part.value.split(" ").filter(Boolean),
            decisions: decisions.checked,
          },
          signal,
        ),
    }),
  };
}

/** Documents that were added: the newest, or those of a filter. */
async function documentChoice(signal) {
  const filters = await api.filters(signal);
  const source = h(
    "select",
    {},
    h("option", { value: "all" }, "all documents"),
    filters.map(({ name }, index) => [
      h("option", { value: `retrieved ${index}` }, `retrieved by “${name}”`),
      h("option", { value: `relevant ${index}` }, `judged relevant for “${name}”`),
    ]),
  );
  const limit = h("input", {
    type: "number",
    min: "1",
    max: "200000",
    required: true,
    value: "20000",
  });
  const decisions = h("input", { type: "checkbox", id: "with-decisions" });
  return {
    heading: "Added documents",
    parts: [
      field("Documents", source),
      field("Maximum number, the newest first", limit),
      check(decisions, "With judgements of the filter as decisions"),
    ],
    chosen: () => {
      const [kind, index] = source.value.split(" ");
      const filter = kind === "all" ? null : filters[Number(index)].name;
      return {
        name: filter ?? "documents",
        run: () =>
          api.chooseDocuments(
            {
              filter,
              relevant: kind === "relevant",
              limit: Number(limit.value),
              decisions: decisions.checked,
            },
            signal,
          ),
      };
    },
  };
}

function fileParts(file, remove) {
  const form = [file.format, file.encoding && file.encoding !== "utf-8" && file.encoding]
    .filter(Boolean)
    .join(", ");
  return [
    h(
      "p",
      { class: "row" },
      h("strong", { class: "grow" }, written(file.file)),
      h("span", {}, `${plural(file.records, "record")} (${form})`),
      button("Remove", { class: "quiet", "aria-label": `Remove ${file.file}` }, remove),
    ),
    file.refused > 0 &&
      h("p", { class: "error" }, `${plural(file.refused, "record")} could not be read.`),
    file.notes.length > 0 && h("p", { class: "soft" }, file.notes.join("; ")),
    file.problems.length > 0 &&
      h(
        "details",
        {},
        h("summary", {}, `${plural(file.problems.length, "remark")}`),
        h(
          "ul",
          { class: "rejections" },
          file.problems.map(problem => h("li", {}, problem)),
        ),
      ),
    h(
      "details",
      {},
      h("summary", {}, "The first records"),
      h(
        "ul",
        { class: "rows" },
        file.first.map(record => h("li", {}, brief(record))),
      ),
    ),
  ].filter(Boolean);
}

const brief = record =>
  h(
    "span",
    { class: "grow" },
    written(record.title || "(no title)"),
    h("br"),
    h("span", { class: "soft" }, written(byline(record))),
    !record.abstract && h("span", { class: "soft" }, " · no abstract"),
  );

function previewParts(found, join, taken) {
  const duplicates = found.records - found.after_joining;
  return [
    h(
      "p",
      {},
      h("strong", {}, plural(found.records, "record")),
      `, ${plural(duplicates, "duplicate")}; ${count(found.after_joining)} to screen`,
      found.without_abstract > 0 && `; ${count(found.without_abstract)} without an abstract`,
      ".",
    ),
    duplicates > 0 &&
      h(
        "p",
        { class: "check" },
        join,
        h("label", { for: "join" }, "Join duplicates (they can be split again)"),
      ),
    duplicates > 0 && groupList("Duplicates", found.duplicates),
    found.possible.length > 0 && groupList("Possible duplicates, not joined", found.possible),
    found.decisions > 0 &&
      h(
        "p",
        { class: "check" },
        taken,
        h(
          "label",
          { for: "taken" },
          `Keep the decisions that ${plural(found.decisions, "record")} came with`,
        ),
      ),
  ].filter(Boolean);
}

const groupList = (heading, groups) =>
  h(
    "details",
    {},
    h("summary", {}, `${heading} (${count(groups.length)}${groups.length === 50 ? " shown" : ""})`),
    h(
      "ul",
      { class: "rows groups" },
      groups.map(({ records, probability }) =>
        h(
          "li",
          {},
          h(
            "ul",
            { class: "grow" },
            records.map(record =>
              h("li", {}, brief(record), h("span", { class: "soft" }, record.file)),
            ),
          ),
          probability !== null && h("span", { class: "soft" }, percent(probability)),
        ),
      ),
    ),
  );
