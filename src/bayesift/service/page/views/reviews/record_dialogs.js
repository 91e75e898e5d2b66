// What people say about a record in a dialog: the reason of an exclusion, notes, tags, the full text, the same publication.

import { api, session } from "../../api.js";
import { button, field, h, newest, notify, openDialog, written } from "../../dom.js";
import { byline } from "./record_parts.js";

const FOUND = 8;
const UNTOLD = new Set([
  "about",
  "after",
  "among",
  "and",
  "between",
  "during",
  "for",
  "from",
  "into",
  "over",
  "the",
  "under",
  "with",
  "without",
]);

/** Ask for the reason of an exclusion; numbers choose one of the list. */
export function askReason(reasons, exclude) {
  const other = h("input", { maxlength: "200", autocomplete: "off" });
  const choose = reason => {
    dialog.close();
    exclude([reason]);
  };
  const submit = event => {
    event.preventDefault();
    if (other.value.trim()) choose(other.value.trim());
  };
  const dialog = openDialog(
    "Why is it excluded?",
    h(
      "ol",
      { class: "reasons" },
      reasons.map((reason, index) =>
        h(
          "li",
          {},
          button([h("kbd", {}, String(index + 1)), " ", reason], {}, () => choose(reason)),
        ),
      ),
    ),
    h(
      "form",
      { on: { submit } },
      field("Another reason", other),
      actions("Exclude", () => dialog.close()),
    ),
  );
  dialog.addEventListener("keydown", event => {
    const reason = event.target === other ? undefined : reasons[Number(event.key) - 1];
    if (reason !== undefined) {
      event.preventDefault();
      choose(reason);
    }
  });
  dialog.querySelector("button, input")?.focus();
}

// Notes that were begun and not saved, by review and record: closing the dialog loses nothing.
const drafts = new Map();

export function askNote(review, record, send) {
  const key = `${review.id} ${record.id}`;
  const input = h("textarea", { maxlength: "2000", rows: "4" });
  const dialog = askText(
    record,
    "Note",
    input,
    drafts.get(key) ?? "",
    text => {
      drafts.delete(key);
      if (text) send(() => api.note(review.id, record.id, text));
    },
    "Ctrl+Enter saves.",
  );
  input.addEventListener("input", () => drafts.set(key, input.value));
  dialog.addEventListener("close", () => {
    if (drafts.get(key)?.trim()) {
      notify("The note is not saved; it is kept for when you open it again.");
    }
  });
}

export const askTags = (review, record, send) =>
  askText(
    record,
    "Tags, separated by commas",
    h("input", { maxlength: "2000", autocomplete: "off" }),
    record.tags.join(", "),
    text =>
      send(() =>
        api.setTags(
          review.id,
          record.id,
          text
            .split(",")
            .map(tag => tag.trim())
            .filter(Boolean),
        ),
      ),
  );

export function askFullText(review, record, send) {
  const dialog = askText(
    record,
    "Full text",
    h("input", { maxlength: "500", autocomplete: "off" }),
    record.full_text,
    text => send(() => api.setFullText(review.id, record.id, text)),
    "A link, or the name of the file that your team keeps.",
  );
  dialog.append(pdfPart(review, record, send, () => dialog.close()));
}

/** Attach a PDF, replace or remove the one that is there; that of another person only after a question. */
function pdfPart(review, record, send, close) {
  const { file } = record;
  const isOthers = file && file.by !== session.value.user;
  const held = file && `${file.name}, attached by ${file.by}`;
  const input = h("input", { type: "file", accept: ".pdf,application/pdf" });
  const sure = h("input", { type: "checkbox", id: "replace-file" });
  const ready = () => {
    if (!isOthers || sure.checked) return true;
    notify(`Tick the box to replace or remove ${held}.`, { kind: "warn" });
    return false;
  };
  input.addEventListener("change", () => {
    const [chosen] = input.files;
    input.value = ""; // so that the same file may be chosen again
    if (!chosen || !ready()) return;
    close();
    send(() => api.attachFullText(review.id, record.id, chosen, file?.digest ?? ""));
  });
  const remove = () => {
    if (!ready()) return;
    close();
    send(() => api.detachFullText(review.id, record.id, file.digest));
  };
  return h(
    "section",
    { class: "pdf-part" },
    held && h("p", {}, "PDF: ", written(held)),
    isOthers &&
      h(
        "p",
        { class: "check" },
        sure,
        h("label", { for: "replace-file" }, `Replace or remove the file of ${file.by}`),
      ),
    field(file ? "Another PDF instead" : "PDF of the full text", input, "Up to 50 MB."),
    file && h("p", {}, button("Remove the PDF", { class: "quiet" }, remove)),
  );
}

function askText(record, label, input, value, send, hint) {
  input.value = value;
  const submit = event => {
    event.preventDefault();
    send(input.value.trim());
    dialog.close();
  };
  const form = h(
    "form",
    { on: { submit } },
    field(label, input, hint),
    actions("Save", () => dialog.close()),
  );
  const dialog = openDialog(`Record ${record.id}`, form);
  input.addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  input.focus();
  return dialog;
}

const actions = (label, cancel) =>
  h(
    "p",
    { class: "row" },
    h("button", { type: "submit", class: "primary" }, label),
    button("Cancel", {}, cancel),
  );

/** Search for another record of the same publication, and join it. */
export function askJoin(review, record, send) {
  const search = h("input", { autocomplete: "off" });
  search.value = tellingWords(record.reference.title);
  const list = h("ul", { class: "rows found", "aria-live": "polite" });
  const join = other => {
    dialog.close();
    send(async () => {
      const joined = await api.join(review.id, record.id, [other]);
      notify(`Records ${record.id} and ${other} are one publication now; “Split” undoes it.`);
      return joined;
    });
  };
  const choice = row =>
    h(
      "li",
      {},
      h(
        "span",
        { class: "grow" },
        written(row.title || "(no title)"),
        h("br"),
        h(
          "span",
          { class: "soft" },
          written([row.authors, row.journal, row.year].filter(Boolean).join(", ")),
        ),
      ),
      button("Join", { "aria-label": `Join record ${row.id}` }, () => join(row.id)),
    );
  const found = () =>
    api
      .records(review.id, { search: search.value, limit: FOUND + 1 })
      .catch(problem => ({ problem }));
  const refresh = newest(found, ({ records, problem }) => {
    const others = records?.filter(({ id }) => id !== record.id).slice(0, FOUND) ?? [];
    const none = h(
      "li",
      { class: problem ? "error" : "soft" },
      problem?.message ?? "No other record holds all these words; try fewer.",
    );
    list.replaceChildren(...(others.length ? others.map(choice) : [none]));
  });
  let timer = null;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(refresh, 250);
  });
  const dialog = openDialog(
    "Which record is the same publication?",
    h(
      "p",
      { class: "soft" },
      written(record.reference.title || "(no title)"),
      h("br"),
      written(byline(record.reference)),
    ),
    field("Search titles, abstracts, authors, DOIs", search),
    list,
    h(
      "p",
      {},
      button("Cancel", {}, () => dialog.close()),
    ),
  );
  search.focus();
  refresh();
}

/** The first words of a title that tell something. */
export const tellingWords = title =>
  (title.match(/[\p{L}\p{N}]{3,}/gu) ?? [])
    .filter(word => !UNTOLD.has(word.toLowerCase()))
    .slice(0, 4)
    .join(" ");
