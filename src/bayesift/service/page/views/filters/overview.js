// Overview of a filter: counts, learning curve, stopping estimate, export, pause and delete.

import { api, mayDo } from "../../api.js";
import { learningCurve } from "../../charts.js";
import { attempt, button, h, openDialog, when, written } from "../../dom.js";
import { throttled, follow } from "../../event_stream.js";
import { count, strategyName } from "../../format.js";
import { membersCard } from "../common/members.js";
import { framed } from "./frame.js";
import { drawStopping } from "./queue_parts.js";

const REDRAW_PAUSE = 1000;

export async function overviewView({ name }, signal) {
  const node = h("div", {}),
    gauge = h(
      "div",
      { class: "card" },
      h("p", { class: "soft" }, "Estimating how many are left …"),
    );
  const load = () => Promise.all([api.filter(name, signal), api.curve(name, signal)]);
  const estimate = () =>
    api.stopping(name, signal).then(
      stopping => drawStopping(gauge, stopping),
      () => {},
    );
  const draw = ([filter, curve]) =>
    node.replaceChildren(...parts(filter, curve.points, gauge, members, signal));
  const first = await load();
  const members = await membersCard(`filters/${encodeURIComponent(name)}`, first[0], signal);
  draw(first);
  estimate();
  const redraw = throttled(
    () => {
      estimate();
      if (!node.contains(document.activeElement)) load().then(draw, () => {});
    },
    REDRAW_PAUSE,
    signal,
  );
  follow(name, { signal, onEvent: redraw });
  return framed(first[0], "overview", node);
}

function parts(filter, points, gauge, members, signal) {
  return [
    h(
      "section",
      { class: "card" },
      h("h2", {}, "Query"),
      filter.query
        ? h("p", { class: "query" }, written(filter.query))
        : h("p", { class: "soft" }, "No query; it learns from judgements alone."),
      h(
        "p",
        { class: "soft" },
        `${strategyName(filter.strategy)} · created by `,
        written(filter.created_by),
        " ",
        when(filter.created_at),
      ),
    ),
    tiles(filter),
    h(
      "div",
      { class: "two" },
      h(
        "section",
        { class: "card" },
        h("h2", {}, "Learning curve"),
        points.length > 1
          ? learningCurve(points, signal)
          : h("p", { class: "soft" }, "Shown after the first judgement."),
      ),
      gauge,
    ),
    exports(filter),
    members,
    mayDo("reviewer", filter) && controls(filter),
  ].filter(Boolean);
}

function tiles(filter) {
  const { counters } = filter;
  const numbers = [
    ["seen", counters.seen],
    ["retrieved", counters.retrieved],
    ["for learning", counters.asked],
    ["judged relevant", counters.judged_relevant],
    ["judged not relevant", counters.judged_irrelevant],
    ["to judge", filter.waiting],
    ["words used", filter.n_terms],
  ];
  return h(
    "dl",
    { class: "tiles" },
    numbers.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, count(value)))),
  );
}

function exports({ name }) {
  const link = (what, label) =>
    h("a", { class: "button", href: api.exportOf(name, what), download: true }, label);
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Export"),
    h(
      "p",
      { class: "row" },
      link("judgements.csv", "Judgements (CSV)"),
      link("judgements.jsonl", "Judgements (JSON lines)"),
      link("model", "Filter (model file)"),
    ),
  );
}

function controls(filter) {
  const pause = () =>
    attempt(() => api.pause(filter.name, !filter.paused), {
      failed: "Not changed",
      then: () => {
        window.dispatchEvent(new HashChangeEvent("hashchange"));
      },
    });
  const remove = () =>
    attempt(() => api.removeFilter(filter.name), {
      done: `“${filter.name}” is deleted.`,
      failed: "Not deleted",
      then: () => {
        location.hash = "#/";
      },
    });
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Manage"),
    h(
      "p",
      { class: "soft" },
      filter.paused
        ? "Paused: new documents are not scored."
        : "Running: every new document is scored.",
    ),
    h(
      "p",
      { class: "row" },
      button(filter.paused ? "Resume" : "Pause", {}, pause),
      mayDo("owner", filter) &&
        button("Delete …", { class: "danger" }, () => confirmDeletion(filter.name, remove)),
    ),
  );
}

function confirmDeletion(name, remove) {
  const typed = h("input", { "aria-label": "Name of the filter", autocomplete: "off" });
  const yes = button("Delete", { class: "danger", disabled: true }, () => {
    dialog.close();
    remove();
  });
  typed.addEventListener("input", () => {
    yes.disabled = typed.value !== name;
  });
  const dialog = openDialog(
    "Delete this filter?",
    h(
      "p",
      {},
      "Its weights and all its judgements are removed from the service. Type its name, ",
      h("strong", {}, written(name)),
      ", to confirm.",
    ),
    typed,
    h(
      "p",
      { class: "row" },
      yes,
      button("Cancel", {}, () => dialog.close()),
    ),
  );
}
