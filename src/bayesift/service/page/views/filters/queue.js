// The queue of a filter: one document at a time, judged by key or button; the rest is reordered as the filter learns.

import { api, mayDo, session } from "../../api.js";
import { h, notify, say } from "../../dom.js";
import { shortcut } from "../../help.js";
import { throttled, follow } from "../../event_stream.js";
import { deliver, onOutcome } from "../../outbox.js";
import { NONE, REFUSED, QueueList, SAVED, SAVING } from "./queue_list.js";
import { percent, titleOf, verdict } from "../../format.js";
import { framed, setTabNumber } from "./frame.js";
import { drawEvidence, drawList, drawNothing, drawDocument, drawStopping } from "./queue_parts.js";
import { keywordForm, keywordOnClick } from "./keywords.js";

const AHEAD = 6; // documents requested at a time; the others stay free for other reviewers
const RELEARN_PAUSE = 200;
const ASK_AGAIN = 3000;
const ESTIMATE_PAUSE = 1500; // the estimate costs the server more than the queue

export async function queueView({ name }, signal) {
  const [filter, queue] = await Promise.all([
    api.filter(name, signal),
    api.queue(name, AHEAD, signal),
  ]);
  const reading = new FilterQueue(filter, signal);
  reading.list.merge(queue);
  reading.draw();
  reading.listen();
  const view = framed(filter, "queue", reading.node, { wide: true });
  reading.frame = view.node;
  return view;
}

class FilterQueue {
  /** @type {HTMLElement | null} */
  frame = null;
  list = new QueueList();
  done = []; // ids in the order they were judged, for undo
  asked = 0; // refreshes requested, and the last one answered
  answered = 0;

  constructor(filter, signal) {
    this.filter = filter;
    this.signal = signal;
    this.paper = h("article", { class: "paper", "aria-label": "Document" });
    this.queue = h("nav", { class: "queue", "aria-label": "Queue" });
    this.evidence = h("div", { class: "evidence-part" });
    this.gauge = h("div", { class: "gauge-part" });
    const side = h(
      "aside",
      { class: "evidence", "aria-label": "Why this score" },
      this.evidence,
      mayDo("reviewer") && keywordForm(this.teach, "Or click a word in the text."),
      this.gauge,
    );
    this.node = h("div", { class: "reading" }, this.queue, this.paper, side);
    const [refresh, estimate] = [
      throttled(this.#refresh, RELEARN_PAUSE, signal),
      throttled(this.#estimate, ESTIMATE_PAUSE, signal),
    ];
    this.refresh = () => {
      this.asked += 1;
      refresh();
      estimate();
    };
    if (mayDo("reviewer")) keywordOnClick(this.paper, this.teach, signal);
  }

  get name() {
    return this.filter.name;
  }

  /** Whether more documents may be coming. */
  get asking() {
    return this.answered < this.asked || this.list.entries.some(({ state }) => state === SAVING);
  }

  listen() {
    const { signal } = this;
    this.#estimate();
    window.addEventListener("keydown", this.#onKey, { signal });
    onOutcome("saved", outcome => this.#onSaved(outcome), signal);
    onOutcome("refused", outcome => this.#onRefused(outcome), signal);
    follow(this.name, { signal, onEvent: this.refresh, onOpen: this.refresh });
  }

  draw({ focus = false } = {}) {
    drawList(this.queue, this.list, this.open);
    this.drawCurrent();
    if (focus) this.paper.querySelector("h2")?.focus();
  }

  drawCurrent() {
    const { current } = this.list;
    this.node.classList.toggle("nothing", current === null);
    if (!current) return drawNothing(this.paper, this.filter, this.asking);
    const { position, entries } = this.list;
    const actions = {
      judge: this.judge,
      move: this.move,
      undo: this.done.length ? this.undo : null,
    };
    drawDocument(this.paper, current, actions, `${position + 1} of ${entries.length}`);
    drawEvidence(this.evidence, current, mayDo("reviewer") ? this.teach : null);
  }

  open = id => {
    if (this.list.goTo(id)) this.draw({ focus: true });
  };

  move = step => {
    if (this.list.move(step)) this.draw({ focus: true });
    else say(step > 0 ? "This is the last document for now." : "This is the first document.");
  };

  judge = relevant => {
    const { current } = this.list;
    if (!current || !mayDo("reviewer")) return;
    const { id } = current.document;
    deliver({
      kind: "judge",
      filter: this.name,
      document: id,
      relevant,
      user: session.value.user,
      known: current.state === SAVED,
    });
    Object.assign(current, { mine: relevant, state: SAVING });
    this.done = [...this.done.filter(other => other !== id), id];
    const more = this.list.advance();
    this.draw({ focus: true });
    say(
      `Judged ${verdict(relevant)}. ${more ? `Next: ${titleOf(this.list.current.document)}, ${percent(this.list.current.probability)}.` : "No more documents."}`,
    );
  };

  undo = () => {
    const id = this.done.pop();
    const entry = id && this.list.find(id);
    if (!entry) return say("Nothing to undo.");
    deliver({ kind: "undo", filter: this.name, document: id, user: session.value.user });
    Object.assign(entry, { mine: null, state: SAVING });
    this.list.goTo(id);
    this.draw({ focus: true });
    say(`Undone: ${titleOf(entry.document)}.`);
  };

  teach = (word, strength) => {
    deliver({ kind: "teach", filter: this.name, word, strength, user: session.value.user });
    say(`Setting “${word}” as evidence ${strength > 0 ? "for" : "against"} relevance.`);
  };

  #onKey = event => {
    const run = {
      j: () => this.move(1),
      k: () => this.move(-1),
      r: () => this.judge(true),
      n: () => this.judge(false),
      u: this.undo,
      t: () => this.node.querySelector(".teach input")?.focus(),
    }[shortcut(event)];
    if (!run) return;
    event.preventDefault();
    run();
  };

  /** @param {import("../../outbox.js").Outcome} outcome */
  #onSaved({ change, answer }) {
    if (change.filter !== this.name) return;
    if (change.kind === "teach") {
      notify(
        `“${change.word}” is now evidence ${change.strength > 0 ? "for" : "against"} relevance.`,
        { action: { label: "Undo", run: () => deliver({ ...change, strength: 0 }) } },
      );
    }
    const entry = change.document && this.list.find(change.document);
    if (entry && (change.kind === "judge") === (entry.mine !== null)) {
      entry.state = change.kind === "judge" ? SAVED : NONE;
    }
    if (entry) entry.conflict = answer?.conflict ?? false;
    if (answer?.conflict) {
      notify(
        "Another reviewer judged this document differently. Both judgements are kept; see Conflicts.",
        { kind: "warn" },
      );
    }
    drawList(this.queue, this.list, this.open);
    this.refresh();
  }

  #onRefused({ change }) {
    const entry = change.filter === this.name && change.document && this.list.find(change.document);
    if (!entry) return;
    Object.assign(entry, { mine: null, state: REFUSED });
    this.draw();
  }

  #refresh = async () => {
    const call = this.asked;
    try {
      const news = await Promise.all([
        api.filter(this.name, this.signal),
        api.queue(this.name, AHEAD, this.signal),
      ]);
      this.answered = call;
      this.#takeIn(...news);
    } catch {
      // the banner reports a missing server
      setTimeout(this.refresh, ASK_AGAIN);
    }
  };

  #estimate = async () => {
    try {
      drawStopping(this.gauge, await api.stopping(this.name, this.signal));
    } catch {
      /* the next refresh estimates again */
    }
  };

  #takeIn(filter, queue) {
    if (this.signal.aborted) return;
    Object.assign(this.filter, filter);
    const before = this.list.current;
    const figures = () => JSON.stringify([before, this.list.entries.length]);
    const old = figures();
    this.list.merge(queue);
    if (this.list.current !== before || !before) this.draw({ focus: this.done.length > 0 });
    else this.#redraw(figures() !== old);
    setTabNumber(this.frame, "queue", filter.waiting);
    setTabNumber(this.frame, "conflicts", filter.conflicts);
  }

  /** Redraw the queue and, if they changed, the figures of the current document; the focus stays. */
  #redraw(newFigures) {
    const focused = this.node.contains(document.activeElement) ? keyInFocus() : null;
    drawList(this.queue, this.list, this.open);
    if (newFigures) this.drawCurrent();
    if (focused && !keyInFocus()) {
      this.node.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    }
  }
}

/** The key of the element that has the focus. */
const keyInFocus = () => /** @type {HTMLElement} */ (document.activeElement).dataset.key;
