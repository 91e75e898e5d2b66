// One profile: counts, learning curve, stopping, export, and what can be done with it.

import { api, mayDo } from "../api.js";
import { learningCurve } from "../charts.js";
import { attempt, button, h, openDialog, when, written } from "../dom.js";
import { calmly, follow } from "../live.js";
import { count, strategyName } from "../wording.js";
import { framed } from "./frame.js";
import { drawStopping } from "./review_parts.js";

const REDRAW_PAUSE = 1000;

export async function overviewView({ name }, signal) {
  const node = h("div", {}), gauge = h("div", { class: "card" }, h("p", { class: "soft" }, "Estimating what is left …"));
  const load = () => Promise.all([api.profile(name, signal), api.curve(name, signal)]);
  const estimate = () => api.stopping(name, signal).then(stopping => drawStopping(gauge, stopping), () => {});
  const draw = ([profile, curve]) => node.replaceChildren(...parts(profile, curve.points, gauge, signal));
  const first = await load();
  draw(first);
  estimate();
  const redraw = calmly(() => {
    estimate();
    if (!node.contains(document.activeElement)) load().then(draw, () => {});
  }, REDRAW_PAUSE, signal);
  follow(name, { signal, onEvent: redraw });
  return framed(first[0], "overview", node);
}

function parts(profile, points, gauge, signal) {
  return [
    h("section", { class: "card" }, h("h2", {}, "What it looks for"),
      profile.query ? h("p", { class: "query" }, written(profile.query)) : h("p", { class: "soft" }, "It has no query and learns from judgements alone."),
      h("p", { class: "soft" }, `${strategyName(profile.strategy)} · made by `, written(profile.created_by), " ", when(profile.created_at))),
    tiles(profile),
    h("div", { class: "two" },
      h("section", { class: "card" }, h("h2", {}, "Learning curve"),
        points.length > 1 ? learningCurve(points, signal) : h("p", { class: "soft" }, "It appears with the first judgement.")),
      gauge),
    exports(profile),
    mayDo("reviewer") && controls(profile),
  ].filter(Boolean);
}

function tiles(profile) {
  const { counters } = profile;
  const numbers = [["seen", counters.seen], ["retrieved", counters.retrieved], ["asked to learn", counters.asked],
    ["judged relevant", counters.judged_relevant], ["judged not relevant", counters.judged_irrelevant], ["waiting", profile.waiting],
    ["words it weighs", profile.n_terms]];
  return h("dl", { class: "tiles" }, numbers.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, count(value)))));
}

function exports({ name }) {
  const link = (what, label) => h("a", { class: "button", href: api.exportOf(name, what), download: true }, label);
  return h("section", { class: "card" }, h("h2", {}, "Take it with you"),
    h("p", { class: "row" }, link("judgements.csv", "Judgements, CSV"), link("judgements.jsonl", "Judgements, JSON lines"), link("model", "The profile, model file")));
}

function controls(profile) {
  const pause = () => attempt(() => api.pause(profile.name, !profile.paused),
    { failed: "Not changed", then: () => { window.dispatchEvent(new HashChangeEvent("hashchange")); } });
  const remove = () => attempt(() => api.removeProfile(profile.name),
    { done: `“${profile.name}” is deleted.`, failed: "Not deleted", then: () => { location.hash = "#/"; } });
  return h("section", { class: "card" }, h("h2", {}, "Manage"),
    h("p", { class: "soft" }, profile.paused ? "Paused: new documents pass it by." : "Running: every new document is looked at."),
    h("p", { class: "row" },
      button(profile.paused ? "Go on" : "Pause", {}, pause),
      button("Delete …", { class: "danger" }, () => confirmDeletion(profile.name, remove))));
}

function confirmDeletion(name, remove) {
  const typed = h("input", { "aria-label": "Name of the profile", autocomplete: "off" });
  const yes = button("Delete it", { class: "danger", disabled: true }, () => { dialog.close(); remove(); });
  typed.addEventListener("input", () => { yes.disabled = typed.value !== name; });
  const dialog = openDialog("Delete this profile?",
    h("p", {}, "What it has learned and all its judgements leave the service. Type its name, ", h("strong", {}, written(name)), ", to go on."),
    typed, h("p", { class: "row" }, yes, button("Keep it", {}, () => dialog.close())));
}
