// Screening: one record at a time, decided by buttons or keys, with criteria, words, notes and the gauge beside it.

import { api, session } from "../../api.js";
import { stoppingGauge, weightBar } from "../../charts.js";
import { button, h, notify, say, sign, unseen } from "../../dom.js";
import { capital, count, plural } from "../../format.js";
import { shortcut } from "../../help.js";
import { deliver, onOutcome, outboxState, unsavedDecision, withdraw } from "../../outbox.js";
import { askFullText, askJoin, askNote, askReason, askTags } from "./record_dialogs.js";
import { criteriaPanel, recordHistory, recordText } from "./record_parts.js";
import { STAGES, framedReview, reviewLink, showBadges, watchProgress } from "./frame.js";

export async function screeningView({ id, about }, signal) {
  const review = await api.review(id, signal);
  const screening = new Screening(review, about ?? "abstract", signal);
  await screening.load();
  const view = framedReview(review, "screen", screening.node, { wide: true });
  screening.frame = view.node;
  screening.listen();
  return view;
}

class Screening {
  /** @type {Api.RecordOut | null} */
  record = null;
  /** @type {Api.WordWeightOut[]} */
  words = [];
  /** @type {string[]} */
  skipped = [];
  /** @type {HTMLElement | null} */
  frame = null;
  busy = false;
  asking = false;

  constructor(review, stage, signal) {
    this.review = review;
    this.stage = stage;
    this.signal = signal;
    this.paper = h("article", { class: "paper", "aria-label": "Record" });
    this.rest = h("div", { class: "evidence" });
    this.side = h(
      "aside",
      { class: "screening-side", "aria-label": "Progress and criteria" },
      criteriaPanel(review),
      this.rest,
    );
    this.node = h(
      "div",
      {},
      review.full_texts && this.#stages(),
      h("div", { class: "reading single" }, this.paper, this.side),
    );
  }

  /** The decision on the current record that the server has not acknowledged yet, or null. */
  get unsaved() {
    return unsavedDecision(this.review.id, this.record?.id, this.stage);
  }

  listen() {
    const { signal } = this;
    window.addEventListener("keydown", this.onKey, { signal });
    watchProgress(this.review.id, this.frame, signal);
    onOutcome("saved", ({ change }) => this.#onSaved(change), signal);
    onOutcome("refused", ({ change }) => this.#onRefused(change), signal);
    outboxState.watch(({ failing }) => {
      if (failing && this.unsaved) this.draw();
    }, signal);
  }

  async load() {
    const { record, progress } = await api.nextRecord(
      this.review.id,
      this.stage,
      this.skipped,
      this.signal,
    );
    this.show(record, progress);
  }

  show(record, progress, { focus = false } = {}) {
    this.record = record;
    this.words = [];
    this.shownAt = performance.now();
    if (progress) this.progress = progress;
    this.draw();
    if (progress) this.#updateGauge();
    if (focus) this.paper.querySelector("h2")?.focus();
  }

  draw() {
    this.paper.replaceChildren(
      ...(this.record ? this.#recordParts() : this.#nothing()).flat(Infinity).filter(Boolean),
    );
    this.rest.replaceChildren(this.#gauge(), this.#help());
    this.node.querySelector(".reading").classList.toggle("deciding", this.busy);
    if (this.frame) showBadges(this.frame, this.progress);
  }

  /** The gauge takes longer than the next record: it is asked for afterwards, once at a time. */
  async #updateGauge() {
    if (this.asking || this.stage !== "abstract") return;
    this.asking = true;
    try {
      this.progress.gauge = await api.gauge(this.review.id, this.signal);
      this.rest.firstChild?.replaceWith(this.#gauge());
    } catch {
      /* the last one stays */
    }
    this.asking = false;
  }

  #recordParts() {
    const { unsaved } = this;
    const mine = unsaved?.verdict ?? this.record.mine;
    const choice = (verdict, label, key, side) =>
      button(
        [label, " ", h("kbd", {}, key)],
        { class: `verdict ${side}`, "aria-pressed": String(mine === verdict) },
        () => this.decide(verdict),
      );
    return [
      recordText(this.review, this.record, this.words),
      recordHistory(this.record),
      unsaved && h("p", { class: "standing" }, `You decided: ${unsaved.verdict} (not saved yet).`),
      h(
        "div",
        { class: "judging" },
        choice("included", "Include", "i", "for"),
        choice("maybe", "Maybe", "m", ""),
        choice("excluded", "Exclude", "e", "against"),
        button(
          ["Reason", h("span", { class: "long" }, " …"), " ", h("kbd", {}, "r")],
          { class: "quiet", "aria-label": "Exclude with a reason (r)" },
          this.askReason,
        ),
        button(
          [sign("↶"), " ", h("kbd", {}, "u")],
          { class: "quiet", "aria-label": "Undo (u)", title: "Undo" },
          this.undo,
        ),
      ),
    ];
  }

  #nothing() {
    const { open, waiting, conflicts } = this.progress;
    const done = open + waiting + conflicts === 0;
    const left = [
      open > 0 && `${plural(open, "record")} reserved for another reviewer`,
      waiting > 0 && `${plural(waiting, "record")} waiting for another reviewer`,
      conflicts > 0 && `${plural(conflicts, "conflict")} to resolve`,
    ].filter(Boolean);
    return [
      h(
        "h2",
        { tabindex: "-1" },
        done ? "All records are decided" : "Nothing to decide for you now",
      ),
      h("p", {}, done ? "See the numbers and download the records." : `${left.join(", ")}.`),
      h(
        "p",
        { class: "row" },
        h(
          "a",
          { class: "button primary", href: reviewLink(this.review.id, "numbers") },
          "Progress and export",
        ),
        conflicts > 0 &&
          h("a", { class: "button", href: reviewLink(this.review.id, "conflicts") }, "Conflicts"),
        button("Look again", {}, () => this.#attempt(() => this.load())),
        button("Undo the last decision", { class: "quiet" }, this.undo),
      ),
    ];
  }

  #gauge() {
    const { records, included, excluded, maybe, conflicts, waiting, gauge } = this.progress;
    const { tally } = this.progress;
    const decided = included + excluded + maybe;
    return h(
      "section",
      { class: "stopping" },
      h("h3", {}, "Progress"),
      h("progress", { max: records || 1, value: decided, "aria-label": "Decided records" }),
      h(
        "p",
        {},
        `${count(decided)} of ${plural(records, "record")} decided: ${count(included)} included, ${count(maybe)} maybe, ${count(excluded)} excluded`,
        waiting > 0 && `; ${count(waiting)} waiting for a second reviewer`,
        conflicts > 0 && `; ${plural(conflicts, "conflict")}`,
        ".",
      ),
      this.review.reviewers_per_record > 1 &&
        h(
          "p",
          { class: "soft" },
          `You: ${count(tally.included)} included, ${count(tally.maybe)} maybe, ${count(tally.excluded)} excluded; ${count(tally.waiting)} of them wait for another reviewer.`,
        ),
      gauge.left !== null && stoppingGauge(gauge),
      gauge.sentence && h("p", { class: "soft gauge-words" }, `${capital(gauge.sentence)}.`),
    );
  }

  #help() {
    return h(
      "section",
      {},
      h("h3", {}, "This record"),
      h(
        "p",
        { class: "row" },
        button(["Words ", h("kbd", {}, "w")], {}, this.showWords),
        button(["Skip ", h("kbd", {}, "s")], {}, this.skip),
        button(["Note ", h("kbd", {}, "n")], {}, () => this.ask(askNote)),
        button(["Tags ", h("kbd", {}, "t")], {}, () => this.ask(askTags)),
        button(["Full text ", h("kbd", {}, "f")], {}, () => this.ask(askFullText)),
        button(["Duplicate ", h("kbd", {}, "d")], {}, () => this.ask(askJoin)),
        h("a", { class: "button quiet", href: reviewLink(this.review.id, "records") }, "Search"),
      ),
      this.words.length > 0 &&
        h(
          "ul",
          { class: "spoken", "aria-label": "Words that speak for relevance, or against it" },
          this.words
            .slice(0, 12)
            .map(({ word, weight }) =>
              h(
                "li",
                {},
                word,
                unseen(weight > 0 ? "for" : "against"),
                weightBar(weight, Math.abs(this.words[0].weight)),
              ),
            ),
        ),
      this.record?.sources.length > 0 &&
        h("p", {}, button("Not the same publication: split", { class: "quiet" }, this.split)),
    );
  }

  #stages() {
    return h(
      "p",
      { class: "row", role: "group", "aria-label": "Stage" },
      STAGES.map(([stage, label]) =>
        h(
          "a",
          {
            class: `button${stage === this.stage ? " primary" : ""}`,
            "aria-current": stage === this.stage ? "true" : null,
            href: reviewLink(this.review.id, "screen", stage),
          },
          label,
        ),
      ),
    );
  }

  decide = (verdict, reasons = []) => {
    if (!this.record || this.busy || (this.unsaved && !outboxState.value.failing)) return;
    const { id } = this.record;
    const seconds = Math.min((performance.now() - this.shownAt) / 1000, 86_400);
    deliver({
      kind: "decide",
      review: this.review.id,
      record: id,
      stage: this.stage,
      verdict,
      reasons,
      seconds,
      user: session.value.user,
    });
    this.node.querySelector(".reading").classList.add("deciding");
  };

  /**
   * Go on to the next record once the server has the decision.
   * @param {import("../../outbox.js").Change} change
   */
  #onSaved({ kind, review, record, stage, verdict, reasons }) {
    if (kind !== "decide" || review !== this.review.id || stage !== this.stage) return;
    this.skipped = this.skipped.filter(other => other !== record);
    if (record === this.record?.id) {
      this.#attempt(() =>
        this.#advance(
          `Record ${record}: ${verdict}${reasons.length ? ` (${reasons.join("; ")})` : ""}.`,
        ),
      );
    }
  }

  /** @param {import("../../outbox.js").Change} change */
  #onRefused({ kind, review }) {
    if (kind === "decide" && review === this.review.id) this.draw();
  }

  undo = () =>
    this.#attempt(async () => {
      const { unsaved } = this;
      if (unsaved) {
        if (withdraw(unsaved)) {
          this.draw();
          say(`Taken back: record ${this.record.id}.`);
        } else {
          notify("The decision is being saved; take it back when the server answers.", {
            kind: "warn",
          });
        }
        return;
      }
      const record = await api.undoDecision(this.review.id);
      if (record.stage !== this.stage) {
        location.hash = reviewLink(this.review.id, "screen", record.stage);
        return;
      }
      this.show(record, (await api.review(this.review.id, this.signal)).progress, { focus: true });
      say(`Taken back: record ${record.id}.`);
    });

  skip = () => {
    if (!this.record) return;
    this.skipped = [...this.skipped, this.record.id].slice(-100);
    this.#attempt(() => this.#advance("Skipped; it comes back after the others."));
  };

  showWords = () =>
    this.#attempt(async () => {
      if (!this.record) return;
      this.words = this.words.length
        ? []
        : await api.wordsOf(this.review.id, this.record.id, this.signal);
      this.draw();
    });

  split = () =>
    this.change(async () => {
      const record = await api.split(this.review.id, this.record.id);
      notify("Each source is a record of its own now.");
      return record;
    });

  askReason = () =>
    this.record && askReason(this.review.reasons, reasons => this.decide("excluded", reasons));
  ask = dialog => this.record && dialog(this.review, this.record, this.change);

  /** Change something about the record and show it again. */
  change = send =>
    this.#attempt(async () => {
      this.show({ ...(await send()), stage: this.stage }, null, { focus: true });
    });

  async #advance(message) {
    const { record, progress } = await api.nextRecord(
      this.review.id,
      this.stage,
      this.skipped,
      this.signal,
    );
    this.show(record, progress, { focus: true });
    say(`${message} ${record ? `Next: ${record.reference.title}` : "No more records."}`);
  }

  /** Run something that takes a moment; the page is dimmed meanwhile. */
  async #attempt(run) {
    if (this.busy) return;
    this.busy = true;
    this.node.querySelector(".reading").classList.add("deciding");
    try {
      await run();
    } catch (problem) {
      if (!this.signal.aborted) notify(`Not done: ${problem.message}`, { kind: "failed" });
    } finally {
      this.busy = false;
      this.node.querySelector(".reading")?.classList.remove("deciding");
    }
  }

  onKey = event => {
    const run = {
      i: () => this.decide("included"),
      e: () => this.decide("excluded"),
      m: () => this.decide("maybe"),
      r: this.askReason,
      u: this.undo,
      s: this.skip,
      n: () => this.ask(askNote),
      t: () => this.ask(askTags),
      f: () => this.ask(askFullText),
      d: () => this.ask(askJoin),
      w: this.showWords,
      "/": () => {
        location.hash = reviewLink(this.review.id, "records");
      },
    }[shortcut(event)];
    if (!run) return;
    event.preventDefault();
    run();
  };
}
