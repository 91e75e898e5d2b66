// The frame: the signed-in user, the view that the address names, the state of the connection.

import { api, ping, Problem, reachable, session } from "./api.js";
import { button, byId, h, notify, openDialog, written } from "./dom.js";
import { drawHeader } from "./header.js";
import { openHelpByKey } from "./help.js";
import { onOutcome, openOutbox, sendNow } from "./outbox.js";
import { conflictsView } from "./views/filters/conflicts.js";
import { documentView } from "./views/filters/document.js";
import { addDocumentsView } from "./views/filters/add_documents.js";
import { judgementsView } from "./views/filters/judgements.js";
import { wordsView } from "./views/filters/words.js";
import { newFilterView } from "./views/filters/new_filter.js";
import { overviewView } from "./views/filters/overview.js";
import { filtersView } from "./views/filters/list.js";
import { queueView } from "./views/filters/queue.js";
import { signInView } from "./views/common/sign_in.js";
import { topicsView } from "./views/filters/topics.js";
import { usersView } from "./views/common/users.js";
import { invitationView } from "./views/common/members.js";
import { modelsView } from "./views/models/list.js";
import { modelView } from "./views/models/model.js";
import { newReviewView } from "./views/reviews/new_review.js";
import { recordsView, recordView, reviewConflictsView } from "./views/reviews/records.js";
import { reviewNumbersView, reviewSettingsView } from "./views/reviews/numbers.js";
import { reviewsView } from "./views/reviews/list.js";
import { screeningView } from "./views/reviews/screening.js";

const VIEWS = {
  "": filtersView,
  reviews: reviewsView,
  "new-review": newReviewView,
  new: newFilterView,
  add: addDocumentsView,
  users: usersView,
  models: modelsView,
};
const FILTER_VIEWS = {
  queue: queueView,
  overview: overviewView,
  words: wordsView,
  topics: topicsView,
  conflicts: conflictsView,
  judgements: judgementsView,
  document: documentView,
};
const REVIEW_VIEWS = {
  screen: screeningView,
  records: recordsView,
  record: recordView,
  conflicts: reviewConflictsView,
  numbers: reviewNumbersView,
  settings: reviewSettingsView,
};
const PING_EVERY = 4000;
/** @type {(change: import("./outbox.js").Change) => string} */
const judgement = ({ document: id }) => `Your judgement of document ${id}`;
/** @type {Record<string, (change: import("./outbox.js").Change) => string>} */
const NAMES = {
  judge: judgement,
  undo: judgement,
  teach: ({ word }) => `The keyword “${word}”`,
  decide: ({ record }) => `Your decision on record ${record}`,
};

let leaving = new AbortController();

/** The view that the address names, and its parameters. */
function place() {
  if (!location.hash) return [reviewsView, {}];
  const [first, name, view, about] = location.hash.replace(/^#\/?/, "").split("/").map(decode);
  if (first === "invitation") return [invitationView, { token: name }];
  if (first === "model") return [modelView, { name }];
  if (first === "filter") return [FILTER_VIEWS[view ?? "queue"], { name, about }];
  if (first === "review") return [REVIEW_VIEWS[view ?? "screen"], { id: name, about }];
  return [VIEWS[first], {}];
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function show() {
  leaving.abort();
  leaving = new AbortController();
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  const { signal } = leaving;
  const address = location.hash;
  const invited = address.startsWith("#/invitation/");
  const [view, params] = session.value || invited ? place() : [signInView, {}];
  byId("banner").replaceChildren();
  drawHeader(address);
  byId("main").setAttribute("aria-busy", "true");
  try {
    if (!view) throw new Problem(404, "This page does not exist.");
    put(await view(params, signal), address, signal);
  } catch (problem) {
    if (signal.aborted || problem.status === 401) return;
    if (!(problem instanceof Problem)) console.error(problem);
    put(failure(problem, params), address, signal);
  }
}

/**
 * Show a view.
 * @param {{title: string, node: Node, wide?: boolean}} view
 * @param {string} address
 * @param {AbortSignal} signal
 */
function put({ title, node, wide }, address, signal) {
  if (signal.aborted || address !== location.hash) return; // the event of a new address comes a moment after the change
  document.title = title ? `${title} · bayesift` : "bayesift";
  const main = byId("main");
  main.removeAttribute("aria-busy");
  main.className = wide ? "wide" : "";
  main.dataset.place = address;
  main.replaceChildren(node);
  /** @type {HTMLElement | null} */
  const heading = main.querySelector("[data-focus]") ?? main.querySelector("h1");
  heading?.setAttribute("tabindex", heading.tabIndex >= 0 ? "0" : "-1");
  (heading ?? main).focus({ preventScroll: true });
  window.scrollTo(0, 0);
  main
    .querySelector(".tabs [aria-current]")
    ?.scrollIntoView({ block: "nearest", inline: "center" });
}

function failure(problem, { name, about }) {
  const missing =
    about === undefined
      ? `The filter “${name}” does not exist.`
      : `The filter “${name}” has no document “${about}”.`;
  const known =
    problem.status === 404 && location.hash.startsWith("#/review/")
      ? "This review or record does not exist."
      : problem.status === 404 && location.hash.startsWith("#/model/")
        ? `The model “${name}” does not exist.`
        : problem.status === 404 && name !== undefined
          ? missing
          : problem.message;
  const sentence =
    problem instanceof Problem ? known : "The page failed; see the console of the browser.";
  return {
    title: "Not shown",
    node: h(
      "section",
      { class: "empty" },
      h("h1", {}, "This page cannot be shown"),
      h("p", {}, written(sentence)),
      h(
        "p",
        {},
        button("Try again", {}, show),
        " ",
        h("a", { href: "#/reviews" }, "All reviews"),
        " ",
        h("a", { href: "#/" }, "All filters"),
      ),
    ),
  };
}

function watchServer() {
  let timer = null;
  reachable.watch(there => {
    clearInterval(timer);
    byId("banner").replaceChildren(
      ...(there
        ? []
        : [
            h(
              "div",
              { class: "banner" },
              h(
                "p",
                {},
                h("strong", {}, "The server does not answer. "),
                "Your judgements, decisions and keywords are kept in this browser and sent when it is back.",
              ),
              button("Try now", {}, ping),
            ),
          ]),
    );
    if (there) sendNow();
    else timer = setInterval(ping, PING_EVERY);
  });
}

function watchRefusals() {
  onOutcome("refused", ({ change, problem }) => {
    notify(`${NAMES[change.kind](change)} was not saved: ${problem.message}`, { kind: "failed" });
  });
}

/** Sign in with the token of an address such as #/token/…/review/ID, which the command line prints, and forget it. */
async function signInByLink() {
  const [, token, rest] = /^#\/token\/([\w-]+)(\/.*)?$/.exec(location.hash) ?? [];
  if (!token) return false;
  history.replaceState(null, "", `#${rest ?? "/reviews"}`);
  const before = await api.resume().then(
    () => session.value,
    () => null,
  );
  // A link must not change the person unnoticed: decisions would then go under another name.
  if (before && !(await agreed(`You are signed in as ${before.user}.`))) return true;
  await api.signIn(token);
  return true;
}

/** Ask whether the person of a sign-in link replaces the one who is signed in. */
const agreed = sentence =>
  new Promise(resolve => {
    const dialog = openDialog(
      "Sign in as another person?",
      h("p", {}, written(sentence), " The link signs you in as its own person instead."),
      h(
        "p",
        { class: "row" },
        button("Sign in by the link", { class: "primary" }, () => dialog.close("yes")),
        button("Stay signed in", {}, () => dialog.close()),
      ),
    );
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"));
  });

async function begin() {
  try {
    if (!(await signInByLink())) await api.resume();
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
