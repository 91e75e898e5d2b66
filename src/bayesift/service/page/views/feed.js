// Feeding documents by hand: pasted text, or a file with progress.

import { api } from "../api.js";
import { button, field, h, say } from "../dom.js";
import { documentOf, documentsOf } from "../reading.js";
import { count, percent, plural } from "../wording.js";

const BATCH = 100;
const SHOWN_REFUSALS = 20;
const LONGEST_WAIT = 30_000;
const UNFIT = new Set([400, 413, 422]);

export function feedView(_params, signal) {
  return {
    title: "Feed",
    node: h("div", { class: "narrow" }, h("h1", {}, "Feed documents"),
      h("p", { class: "lead" }, "Every profile that is not paused looks at what comes in. A document with a known id changes nothing."),
      fileSection(signal), pasteSection(signal)),
  };
}

function pasteSection(signal) {
  const title = h("input", { name: "title", autocomplete: "off" });
  const text = h("textarea", { name: "text", rows: "8", required: true });
  const outcome = h("p", { role: "status" });
  const feed = async event => {
    event.preventDefault();
    outcome.className = "";
    outcome.textContent = "Sending …";
    try {
      const answer = await api.addDocuments([documentOf({ title: title.value.trim(), text: text.value })], signal);
      outcome.textContent = answer.accepted ? "Taken in." : "This document was known already.";
      if (answer.accepted) for (const input of [title, text]) input.value = "";
    } catch (problem) {
      outcome.className = "error";
      outcome.textContent = `Not taken in: ${problem.message}`;
    }
  };
  return h("section", { class: "card" }, h("h2", {}, "Paste one"),
    h("form", { on: { submit: feed } }, field("Title (optional)", title), field("Text", text),
      h("p", {}, h("button", { type: "submit", class: "primary" }, "Take in")), outcome));
}

function fileSection(signal) {
  const input = h("input", { type: "file", accept: ".jsonl,.ndjson,.csv,.tsv,.txt,.md", multiple: true, class: "unseen", id: "feed-file" });
  const report = h("div", { class: "feed-report" });
  const feedAll = async files => {
    for (const file of files) await new Feeding(file, report, signal).run();
  };
  input.addEventListener("change", () => { const files = [...input.files]; input.value = ""; feedAll(files); });
  const drop = h("label", { class: "drop", for: "feed-file" }, h("strong", {}, "Drop files here or choose some"),
    h("span", { class: "hint" }, "JSON lines or CSV with the fields text, title and id (the last two optional), or plain text"), input);
  const over = inside => event => { event.preventDefault(); drop.classList.toggle("over", inside); };
  drop.addEventListener("dragover", over(true));
  drop.addEventListener("dragleave", over(false));
  drop.addEventListener("drop", event => { over(false)(event); feedAll([...event.dataTransfer.files]); });
  return h("section", { class: "card" }, h("h2", {}, "From files"), drop, report);
}

/** One file on its way to the server, in batches, with patience when it is busy. */
class Feeding {
  accepted = 0;
  duplicates = 0;
  read = 0;
  refusals = [];

  constructor(file, place, leaving) {
    this.file = file;
    this.stop = new AbortController();
    leaving.addEventListener("abort", () => this.stop.abort());
    this.bar = h("progress", { max: "1", value: "0", "aria-label": `Progress of ${file.name}` });
    this.status = h("p", { class: "soft" });
    this.cancel = button("Stop", { class: "quiet" }, () => this.stop.abort());
    this.details = h("div", {});
    const head = h("div", { class: "row" }, h("strong", { class: "grow" }, file.name), this.cancel);
    place.prepend(h("div", { class: "feeding" }, head, this.bar, this.status, this.details));
  }

  async run() {
    let outcome = "Done";
    try {
      await this.#feed();
    } catch (error) {
      outcome = this.stop.signal.aborted ? "Stopped" : `Stopped: ${error.message}`;
    }
    this.cancel.remove();
    if (outcome === "Done") this.bar.value = 1;
    this.#tell(outcome);
    say(this.status.textContent);
  }

  async #feed() {
    let batch = [];
    for await (const { document, line, refused } of documentsOf(this.file)) {
      if (refused) this.#refuse(`line ${line} ${refused}`);
      else batch.push(document);
      if (batch.length >= BATCH) { await this.#send(batch); batch = []; }
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
        if (UNFIT.has(problem.status)) return this.#narrow(batch, problem);
        if (!problem.passing) throw problem;
        const pause = 1000 * (problem.retryAfter ?? 0) || wait;
        this.#tell(`${problem.message} Trying again in ${plural(Math.ceil(pause / 1000), "second")}`);
        await new Promise(resolve => setTimeout(resolve, pause));
      }
    }
  }

  /** The server takes a batch whole or not at all: find those it cannot take, and send the others. */
  async #narrow(batch, problem) {
    if (batch.length === 1) return this.#refuse(`document ${batch[0].id}: ${problem.message}`);
    const middle = batch.length >> 1;
    await this.#send(batch.slice(0, middle));
    await this.#send(batch.slice(middle));
    return null;
  }

  #count(batch, answer) {
    this.accepted += answer.accepted;
    this.duplicates += answer.duplicates;
    this.read += batch.reduce((sum, { text, title }) => sum + text.length + (title?.length ?? 0) + 30, 0);
    this.bar.value = Math.min(this.read / this.file.size, 0.99);
    this.#tell(percent(this.bar.value));
  }

  #refuse(sentence) {
    this.refusals.push(sentence);
    const more = this.refusals.length - SHOWN_REFUSALS;
    this.details.replaceChildren(h("ul", { class: "refusals" }, this.refusals.slice(0, SHOWN_REFUSALS).map(text => h("li", {}, text)),
      more > 0 && h("li", {}, `and ${count(more)} more`)));
  }

  #tell(state) {
    const left = this.refusals.length ? `, ${count(this.refusals.length)} refused` : "";
    this.status.textContent = `${state} · ${count(this.accepted)} taken in, ${count(this.duplicates)} known already${left}`;
  }
}
