// Changes that the server has not acknowledged yet: kept in the browser's storage, sent in order, retried.
// Nothing counts as saved before the server has acknowledged it.

import { api, session } from "./api.js";
import { observable } from "./observable.js";

const PREFIX = "bayesift.outbox.";
const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;
const ABANDONED = 180_000; // an open page with unsent changes rewrites its entry more often than this

const SENDERS = {
  judge: change => api.judge(change.filter, change.document, change.relevant),
  undo: change => api.takeBack(change.filter, change.document),
  teach: change => api.teach(change.filter, change.word, change.strength),
  decide: sendDecision,
};

/** How many changes wait, and the sentence that says why they are not saved, or null. */
export const outboxState = observable({
  waiting: 0,
  failing: /** @type {string | null} */ (null),
});

/**
 * @typedef {object} Change
 * @property {"judge" | "undo" | "teach" | "decide"} kind
 * @property {string} user
 * @property {string} [filter]
 * @property {string} [document]
 * @property {boolean} [relevant]
 * @property {string} [word]
 * @property {number} [strength]
 * @property {string} [review]
 * @property {string} [record]
 * @property {string} [stage]
 * @property {string} [verdict]
 * @property {string[]} [reasons]
 * @property {number} [seconds]
 * @property {boolean} [known] whether the server may have seen it, or one that it replaces
 * @property {number} [attempts] how often it was sent
 *
 * @typedef {{change: Change, answer?: any, problem?: Error}} Outcome
 */

const outcomes = new EventTarget();

/**
 * Call the listener for every change that the server acknowledged ("saved") or refused.
 * @param {"saved" | "refused"} kind
 * @param {(outcome: Outcome) => void} listener
 * @param {AbortSignal} [signal]
 */
export function onOutcome(kind, listener, signal) {
  outcomes.addEventListener(
    kind,
    event => listener(/** @type {CustomEvent<Outcome>} */ (event).detail),
    { signal },
  );
}

/** @type {Change[]} */
let changes = [];
/** @type {Change | null} */
let sending = null;
let wait = FIRST_WAIT;
let timer = null;
let failing = null;

const page = sessionStorage.getItem("bayesift.page") ?? Math.random().toString(36).slice(2);
sessionStorage.setItem("bayesift.page", page);

const SUBJECT = ["filter", "document", "word", "review", "record", "stage"];

/**
 * Send a decision on a record. One that was sent before may have arrived without its answer: it is
 * not decided twice.
 * @param {Change} change
 */
async function sendDecision({ review, record, stage, verdict, reasons, seconds, user, attempts }) {
  if (attempts > 1) {
    const shown = await api.record(review, record, undefined, stage);
    const held = shown.decisions.find(decision => decision.by === user && !decision.resolved);
    if (held?.verdict === verdict && JSON.stringify(held.reasons) === JSON.stringify(reasons)) {
      return shown;
    }
  }
  return api.decide(review, { record, verdict, reasons, stage, seconds });
}

/** The decision on a record in a stage that is not saved yet, or null. */
export const unsavedDecision = (review, record, stage) =>
  changes.findLast(
    change =>
      change.kind === "decide" &&
      change.review === review &&
      change.record === record &&
      change.stage === stage,
  ) ?? null;

/** Take back a decision that was never sent; false if it may have reached the server. */
export function withdraw(change) {
  if (change === sending || change.attempts) return false;
  changes = changes.filter(other => other !== change);
  keep();
  return true;
}

/**
 * Queue a change. It replaces an unsent one of the same document, word or record; a change that the
 * server never saw (`known`) needs no undo.
 * @param {Change} change
 */
export function deliver(change) {
  const same = other => SUBJECT.every(name => other[name] === change[name]);
  const unsent = changes.filter(other => other !== sending && same(other));
  changes = changes.filter(other => !unsent.includes(other));
  change.known ||= unsent.some(other => other.known);
  change.attempts = Math.max(0, ...unsent.map(other => other.attempts ?? 0));
  if (change.kind === "undo" && unsent.length && !change.known && !(sending && same(sending))) {
    tell("saved", { change, answer: null });
  } else changes.push(change);
  keep();
  send();
}

/** Try now instead of waiting. */
export function sendNow() {
  clearTimeout(timer);
  timer = null;
  wait = FIRST_WAIT;
  send();
}

async function send() {
  if (sending || timer !== null || !changes.length || !session.value) return;
  sending = changes[0];
  sending.known = true; // whether it arrived or only its answer was lost
  sending.attempts = (sending.attempts ?? 0) + 1;
  keep();
  try {
    const answer = await SENDERS[sending.kind](sending);
    finish("saved", { answer });
  } catch (problem) {
    if (problem.status === 401) pause(problem, null);
    else if (problem.passing ?? true) pause(problem, 1000 * (problem.retryAfter ?? 0) || wait);
    else {
      finish(sending.kind === "undo" && problem.status === 404 ? "saved" : "refused", { problem });
    }
  }
}

function finish(outcome, details) {
  const change = sending;
  changes = changes.filter(other => other !== change);
  sending = null;
  failing = null;
  wait = FIRST_WAIT;
  keep();
  tell(outcome, { change, ...details });
  send();
}

function pause(problem, milliseconds) {
  sending = null;
  failing = problem.message;
  wait = Math.min(2 * wait, LONGEST_WAIT);
  if (milliseconds !== null) {
    timer = setTimeout(() => {
      timer = null;
      send();
    }, milliseconds);
  }
  keep();
}

function tell(outcome, detail) {
  outcomes.dispatchEvent(new CustomEvent(outcome, { detail }));
}

function show() {
  outboxState.set({ waiting: changes.length, failing: changes.length ? failing : null });
}

const keyOf = user => `${PREFIX}${user}.${page}`;

function keep(stamp = Date.now()) {
  const user = changes[0]?.user ?? session.value?.user;
  if (user === undefined) return;
  if (changes.length) localStorage.setItem(keyOf(user), JSON.stringify({ stamp, deeds: changes }));
  else localStorage.removeItem(keyOf(user));
  show();
}

/** Take over unsent changes of this user from pages that were closed. */
function adopt() {
  const user = session.value?.user;
  if (user === undefined) return;
  const own = keyOf(user);
  for (const key of Object.keys(localStorage).filter(name => name.startsWith(PREFIX))) {
    const box = JSON.parse(localStorage.getItem(key));
    const living = key === own ? changes.length > 0 : Date.now() - box.stamp < ABANDONED;
    if (living || box.deeds[0].user !== user) continue;
    if (key !== own) localStorage.removeItem(key);
    changes.push(...box.deeds);
  }
  keep();
  send();
}

/** Start: send what an earlier page left, and warn before a page with unsaved changes is closed. */
export function openOutbox() {
  session.watch(current => {
    if (!current) return;
    if (changes.length && changes[0].user !== current.user) {
      keep(0);
      changes = [];
    }
    adopt();
    sendNow();
  });
  setInterval(adopt, ABANDONED / 3);
  window.addEventListener("beforeunload", event => {
    if (changes.length) event.preventDefault();
  });
  window.addEventListener("pagehide", () => {
    if (changes.length) keep(0);
  });
  window.addEventListener("online", sendNow);
}
