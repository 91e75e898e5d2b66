// The frame: who is signed in, which view the address names, whether the server is there.

import { api, ping, Problem, reachable, session } from "./api.js";
import { button, byId, h, notify, written } from "./dom.js";
import { drawHeader } from "./header.js";
import { openHelpByKey } from "./help.js";
import { openOutbox, outcomes, sendNow } from "./outbox.js";
import { conflictsView } from "./views/conflicts.js";
import { documentView } from "./views/document.js";
import { feedView } from "./views/feed.js";
import { judgementsView } from "./views/judgements.js";
import { learnedView } from "./views/learned.js";
import { newProfileView } from "./views/new_profile.js";
import { overviewView } from "./views/overview.js";
import { profilesView } from "./views/profiles.js";
import { reviewView } from "./views/review.js";
import { signInView } from "./views/sign_in.js";
import { topicsView } from "./views/topics.js";
import { usersView } from "./views/users.js";

const VIEWS = { "": profilesView, new: newProfileView, feed: feedView, users: usersView };
const PROFILE_VIEWS = {
  review: reviewView, overview: overviewView, learned: learnedView, topics: topicsView,
  conflicts: conflictsView, judgements: judgementsView, document: documentView,
};
const PING_EVERY = 4000;

let leaving = new AbortController();

/** The view an address names, and what it is about. */
function place() {
  const [first, name, view = "review", about] = location.hash.replace(/^#\/?/, "").split("/").map(decode);
  if (first === "profile") return [PROFILE_VIEWS[view], { name, about }];
  return [VIEWS[first], {}];
}

function decode(part) {
  try { return decodeURIComponent(part); } catch { return part; }
}

async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const [view, params] = session.value ? place() : [signInView, {}];
  byId("banner").replaceChildren();
  drawHeader(location.hash);
  byId("main").setAttribute("aria-busy", "true");
  try {
    if (!view) throw new Problem(404, "There is no such page.");
    put(await view(params, signal), signal);
  } catch (problem) {
    if (signal.aborted || problem.status === 401) return;
    if (!(problem instanceof Problem)) console.error(problem);
    put(failure(problem), signal);
  }
}

function put({ title, node, wide }, signal) {
  if (signal.aborted) return;
  document.title = title ? `${title} · bayesift` : "bayesift";
  const main = byId("main");
  main.removeAttribute("aria-busy");
  main.className = wide ? "wide" : "";
  main.dataset.place = location.hash;
  main.replaceChildren(node);
  const heading = main.querySelector("[data-focus]") ?? main.querySelector("h1");
  heading?.setAttribute("tabindex", heading.tabIndex >= 0 ? "0" : "-1");
  (heading ?? main).focus({ preventScroll: true });
  window.scrollTo(0, 0);
  main.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
}

function failure(problem) {
  const sentence = problem instanceof Problem ? problem.message : "The page made a mistake; the browser's console says which.";
  return {
    title: "Not shown",
    node: h("section", { class: "empty" }, h("h1", {}, "This could not be shown"), h("p", {}, written(sentence)),
      h("p", {}, button("Try again", {}, show), " ", h("a", { href: "#/" }, "All profiles"))),
  };
}

function watchServer() {
  let timer = null;
  reachable.watch(there => {
    clearInterval(timer);
    byId("banner").replaceChildren(...(there ? [] : [h("div", { class: "banner" },
      h("p", {}, h("strong", {}, "The server does not answer. "), "What you judge is kept in this browser and sent when it is back."),
      button("Try now", {}, ping))]));
    if (there) sendNow();
    else timer = setInterval(ping, PING_EVERY);
  });
}

function watchRefusals() {
  outcomes.addEventListener("refused", ({ detail: { deed, problem } }) => {
    const what = deed.kind === "teach" ? `The word “${deed.word}”` : `Your judgement of document ${deed.document}`;
    notify(`${what} was not saved: ${problem.message}`, { kind: "failed" });
  });
}

async function begin() {
  try {
    await api.resume();
  } catch (problem) {
    if (problem.status !== 401) console.warn(problem.message);
  }
  openOutbox();
  watchServer();
  watchRefusals();
  openHelpByKey();
  let user = session.value?.user;
  session.watch(current => {
    if (current?.user === user) return drawHeader(location.hash);
    user = current?.user;
    show();
  });
  window.addEventListener("hashchange", show);
  show();
}

begin();
