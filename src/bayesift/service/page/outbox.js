// What a reviewer did and the server has not acknowledged yet: kept in the browser's storage, sent in order, tried again.
// Nothing counts as saved before the server says so.

import { api, session } from "./api.js";
import { observable } from "./observable.js";

const PREFIX = "bayesift.outbox.";
const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;
const ABANDONED = 180_000; // a living page rewrites its box more often than this while something is in it

const SENDERS = {
  judge: deed => api.judge(deed.profile, deed.document, deed.relevant),
  undo: deed => api.takeBack(deed.profile, deed.document),
  teach: deed => api.teach(deed.profile, deed.word, deed.strength),
};

/** {waiting: number, failing: sentence or null} */
export const outboxState = observable({ waiting: 0, failing: null });

/** Events "saved" {deed, answer} and "refused" {deed, problem}. */
export const outcomes = new EventTarget();

let deeds = [];
let sending = null;
let wait = FIRST_WAIT;
let timer = null;
let failing = null;

const page = sessionStorage.getItem("bayesift.page") ?? Math.random().toString(36).slice(2);
sessionStorage.setItem("bayesift.page", page);

/** Take in a deed. It replaces an unsent one of the same thing; what the server cannot know of (`known`) needs no undoing. */
export function deliver(deed) {
  const same = other => other.profile === deed.profile && other.document === deed.document && other.word === deed.word;
  const unsent = deeds.filter(other => other !== sending && same(other));
  deeds = deeds.filter(other => !unsent.includes(other));
  deed.known ||= unsent.some(other => other.known);
  if (deed.kind === "undo" && unsent.length && !deed.known && !(sending && same(sending))) tell("saved", { deed, answer: null });
  else deeds.push(deed);
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
  if (sending || timer !== null || !deeds.length || !session.value) return;
  sending = deeds[0];
  sending.known = true; // whether it arrived or only its answer was lost
  show();
  try {
    const answer = await SENDERS[sending.kind](sending);
    finish("saved", { answer });
  } catch (problem) {
    if (problem.status === 401) pause(problem, null);
    else if (problem.passing ?? true) pause(problem, 1000 * (problem.retryAfter ?? 0) || wait);
    else finish(sending.kind === "undo" && problem.status === 404 ? "saved" : "refused", { problem });
  }
}

function finish(outcome, details) {
  const deed = sending;
  deeds = deeds.filter(other => other !== deed);
  sending = null;
  failing = null;
  wait = FIRST_WAIT;
  keep();
  tell(outcome, { deed, ...details });
  send();
}

function pause(problem, milliseconds) {
  sending = null;
  failing = problem.message;
  wait = Math.min(2 * wait, LONGEST_WAIT);
  if (milliseconds !== null) timer = setTimeout(() => { timer = null; send(); }, milliseconds);
  keep();
}

function tell(outcome, detail) {
  outcomes.dispatchEvent(new CustomEvent(outcome, { detail }));
}

function show() {
  outboxState.set({ waiting: deeds.length, failing: deeds.length ? failing : null });
}

const keyOf = user => `${PREFIX}${user}.${page}`;

function keep(stamp = Date.now()) {
  const user = deeds[0]?.user ?? session.value?.user;
  if (user === undefined) return;
  if (deeds.length) localStorage.setItem(keyOf(user), JSON.stringify({ stamp, deeds }));
  else localStorage.removeItem(keyOf(user));
  show();
}

/** Take over what pages of this user left behind that are no longer open. */
function adopt() {
  const user = session.value?.user;
  if (user === undefined) return;
  const own = keyOf(user);
  for (const key of Object.keys(localStorage).filter(key => key.startsWith(PREFIX))) {
    const box = JSON.parse(localStorage.getItem(key));
    const living = key === own ? deeds.length > 0 : Date.now() - box.stamp < ABANDONED;
    if (living || box.deeds[0].user !== user) continue;
    if (key !== own) localStorage.removeItem(key);
    deeds.push(...box.deeds);
  }
  keep();
  send();
}

/** Begin: send what an earlier page left, and ask before a page with unsaved judgements is closed. */
export function openOutbox() {
  session.watch(current => {
    if (!current) return;
    if (deeds.length && deeds[0].user !== current.user) { keep(0); deeds = []; }
    adopt();
    sendNow();
  });
  setInterval(adopt, ABANDONED / 3);
  window.addEventListener("beforeunload", event => { if (deeds.length) event.preventDefault(); });
  window.addEventListener("pagehide", () => { if (deeds.length) keep(0); });
  window.addEventListener("online", sendNow);
}
