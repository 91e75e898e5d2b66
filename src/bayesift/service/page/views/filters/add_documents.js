// Add documents: pasted text, or files with progress.

import { api } from "../../api.js";
import { button, dropZone, field, h, say } from "../../dom.js";
import { documentOf, documentsOf } from "./document_files.js";
import { count, percent, plural } from "../../format.js";

const ACCEPTED = ".jsonl,.ndjson,.csv,.tsv,.xlsx,.parquet,.ris,.nbib,.enw,.bib,.ciw,.xml,.txt,.md";
const BATCH = 100;
const SHOWN_REJECTIONS = 20;
const LONGEST_WAIT = 30_000;
const INVALID = new Set([400, 413, 422]);

export function addDocumentsView(_params, signal) {
  return {
    title: "Add documents",
    node: h(
      "div",
      { class: "narrow" },
      h("h1", {}, "Add documents"),
      h(
        "p",
        { class: "lead" },
        "Every filter that is not paused scores new documents. A document that is known changes nothing. To screen a fixed set of records, begin a review instead.",
      ),
      fileSection(signal),
      pasteSection(signal),
    ),
  };
}

function pasteSection(signal) {
  const title = h("input", { name: "title", autocomplete: "off" });
  const text = h("textarea", { name: "text", rows: "8", required: true });
  const outcome = h("p", { role: "status" });
  const add = async event => {
    event.preventDefault();
    outcome.className = "";
    outcome.textContent = "Sending …";
    try {
      const answer = await api.addDocuments(
        [documentOf({ title: title.value.trim(), text: text.value })],
        signal,
      );
      outcome.textContent = answer.accepted ? "Added." : "This document was added before.";
      if (answer.accepted) for (const input of [title, text]) input.value = "";
    } catch (problem) {
      outcome.className = "error";
      outcome.textContent = `Not added: ${problem.message}`;
    }
  };
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Paste text"),
    h(
      "form",
      { on: { submit: add } },
      field("Title (optional)", title),
      field("Text", text),
      h("p", {}, h("button", { type: "submit", class: "primary" }, "Add")),
      outcome,
    ),
  );
}

function fileSection(signal) {
  const report = h("div", { class: "upload-report" });
  const uploadAll = async files => {
    for (const file of files) await new Upload(file, report, signal).run();
  };
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Upload files"),
    dropZone(
      "files",
      ACCEPTED,
      "Tables with a column of texts (CSV, Excel, JSON lines), records (RIS, PubMed, EndNote, BibTeX), or plain text",
      uploadAll,
    ),
    report,
  );
}

/** The upload of one file in batches, retried while the server is busy. */
class Upload {
  accepted = 0;
  duplicates = 0;
  read = 0;
  rejections = [];

  constructor(file, place, leaving) {
    this.file = file;
    this.stop = new AbortController();
    leaving.addEventListener("abort", () => this.stop.abort());
    this.bar = h("progress", { max: "1", value: "0", "aria-label": `Progress of ${file.name}` });
    this.status = h("p", { class: "soft" });
    this.cancel = button("Stop", { class: "quiet" }, () => this.stop.abort());
    this.details = h("div", {});
    const head = h("div", { class: "row" }, h("strong", { class: "grow" }, file.name), this.cancel);
    place.prepend(h("div", { class: "upload" }, head, this.bar, this.status, this.details));
  }

  async run() {
    let outcome = "Done";
    try {
      await this.#run();
    } catch (error) {
      outcome = this.stop.signal.aborted ? "Stopped" : `Stopped: ${error.message}`;
    }
    this.cancel.remove();
    if (outcome === "Done") this.bar.value = 1;
    this.#show(outcome);
    say(this.status.textContent);
  }

  async #run() {
    let batch = [];
    for await (const { document, line, rejected } of documentsOf(this.file, file =>
      api.readDocuments(file, this.stop.signal),
    )) {
      if (rejected) this.#reject(line ? `line ${line} ${rejected}` : rejected);
      else batch.push(document);
      if (batch.length >= BATCH) {
        await this.#send(batch);
        batch = [];
      }
    }
    if (batch.length) await this.#send(batch);
  }

  async #send(batch) {
    for (let wait = 1000; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      this.stop.signal.throwIfAborted();
      try {
        const answer = await api.addDocuments(batch, this.stop.signal);
        return this.#count(batch, answer);
      } catch (problem) {
        if (INVALID.has(problem.status)) return this.#bisect(batch, problem);
        if (!problem.passing) throw problem;
        const pause = 1000 * (problem.retryAfter ?? 0) || wait;
        this.#show(
          `${problem.message} Trying again in ${plural(Math.ceil(pause / 1000), "second")}`,
        );
        await new Promise(resolve => setTimeout(resolve, pause));
      }
    }
  }

  /** The server accepts or rejects a batch as a whole: find the invalid documents and send the others. */
  async #bisect(batch, problem) {
    if (batch.length === 1) return this.#reject(`document ${batch[0].id}: ${problem.message}`);
    const middle = batch.length >> 1;
    await this.#send(batch.slice(0, middle));
    await this.#send(batch.slice(middle));
    return null;
  }

  #count(batch, answer) {
    this.accepted += answer.accepted;
    this.duplicates += answer.duplicates;
    this.read += batch.reduce(
      (sum, { text, title }) => sum + text.length + (title?.length ?? 0) + 30,
      0,
    );
    this.bar.value = Math.min(this.read / this.file.size, 0.99);
    this.#show(percent(this.bar.value));
  }

  #reject(sentence) {
    this.rejections.push(sentence);
    const more = this.rejections.length - SHOWN_REJECTIONS;
    this.details.replaceChildren(
      h(
        "ul",
        { class: "rejections" },
        this.rejections.slice(0, SHOWN_REJECTIONS).map(text => h("li", {}, text)),
        more > 0 && h("li", {}, `and ${count(more)} more`),
      ),
    );
  }

  #show(state) {
    const left = this.rejections.length ? `, ${count(this.rejections.length)} rejected` : "";
    this.status.textContent = `${state} · ${count(this.accepted)} added, ${count(this.duplicates)} already known${left}`;
  }
}
