// All filters, with their counts and learning curves.

import { api, mayDo } from "../../api.js";
import { sparkline } from "../../charts.js";
import { button, field, h, notify, openDialog, written } from "../../dom.js";
import { count, plural, strategyName } from "../../format.js";
import { filterLink } from "./frame.js";

const REFRESH_EVERY = 10_000;
const TAKEN = 409;

export async function filtersView(_params, signal) {
  const list = h("div", {});
  const refresh = async () => list.replaceChildren(await filterCards(signal));
  await refresh();
  const timer = setInterval(() => {
    if (!document.hidden && !list.contains(document.activeElement)) refresh().catch(() => {});
  }, REFRESH_EVERY);
  signal.addEventListener("abort", () => clearInterval(timer));
  return {
    title: "Filters",
    node: h(
      "div",
      {},
      h(
        "div",
        { class: "head" },
        h("h1", {}, "Filters"),
        mayDo("reviewer") &&
          h(
            "div",
            { class: "row" },
            importButton(refresh),
            h("a", { class: "button primary", href: "#/new" }, "New filter"),
          ),
      ),
      list,
    ),
  };
}

async function filterCards(signal) {
  const filters = await api.filters(signal);
  if (!filters.length) return noFilters();
  const curves = await Promise.all(
    filters.map(({ name }) => api.curve(name, signal).catch(() => ({ points: [] }))),
  );
  return h(
    "ul",
    { class: "cards" },
    filters.map((filter, index) => card(filter, curves[index].points)),
  );
}

function card(filter, points) {
  const { counters } = filter;
  const judged = counters.judged_relevant + counters.judged_irrelevant;
  return h(
    "li",
    { class: "card product-card" },
    h(
      "div",
      { class: "card-head" },
      h("h2", {}, h("a", { href: filterLink(filter.name, "overview") }, written(filter.name))),
      filter.paused && h("span", { class: "tag" }, "paused"),
      filter.conflicts > 0 &&
        h(
          "a",
          { class: "tag warn", href: filterLink(filter.name, "conflicts") },
          plural(filter.conflicts, "conflict"),
        ),
    ),
    filter.query
      ? h("p", { class: "query" }, written(filter.query))
      : h("p", { class: "query soft" }, "No query; it learns from judgements alone."),
    points.length > 1
      ? sparkline(points)
      : h("p", { class: "sparkline none" }, "No judgements yet"),
    h(
      "dl",
      { class: "counts" },
      figure("seen", counters.seen),
      figure("retrieved", counters.retrieved),
      figure("judged", judged),
      figure("relevant", counters.judged_relevant),
    ),
    h(
      "div",
      { class: "card-foot" },
      h("span", { class: "soft" }, strategyName(filter.strategy)),
      filter.waiting && mayDo("reviewer", filter)
        ? h(
            "a",
            { class: "button", href: filterLink(filter.name, "queue") },
            `Judge ${count(filter.waiting)}`,
          )
        : h(
            "span",
            { class: "soft" },
            filter.waiting ? `${count(filter.waiting)} to judge` : "Nothing to judge",
          ),
    ),
  );
}

const figure = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, count(value)));

const noFilters = () =>
  h(
    "section",
    { class: "empty" },
    h("h2", {}, "No filters yet"),
    h(
      "p",
      {},
      "A filter watches a stream of documents for one subject. Describe in a sentence what you look for, add documents, and judge those it retrieves; it learns from every judgement.",
    ),
    mayDo("reviewer") &&
      h("p", {}, h("a", { class: "button primary", href: "#/new" }, "Create the first filter")),
  );

function importButton(refresh) {
  const input = h("input", {
    type: "file",
    class: "unseen",
    "aria-label": "Import a filter from a model file",
  });
  const take = async (file, name) => {
    try {
      const { name: given } = await api.importFilter(file, name);
      notify(`Imported “${given}”.`);
      refresh().catch(() => {});
    } catch (problem) {
      if (problem.status === TAKEN) askForName(problem, other => take(file, other));
      else notify(`“${file.name}” was not imported: ${problem.message}`, { kind: "failed" });
    }
  };
  input.addEventListener("change", () => {
    const [file] = input.files;
    input.value = "";
    take(file);
  });
  return h("label", { class: "button" }, "Import …", input);
}

function askForName(problem, run) {
  const name = h("input", { required: true, maxlength: "100", autocomplete: "off" });
  const submit = event => {
    event.preventDefault();
    dialog.close();
    run(name.value.trim());
  };
  const dialog = openDialog(
    "Import under another name",
    h("p", {}, written(problem.message)),
    h(
      "form",
      { on: { submit } },
      field("Name", name),
      h(
        "p",
        { class: "row" },
        h("button", { type: "submit", class: "primary" }, "Import"),
        button("Cancel", {}, () => dialog.close()),
      ),
    ),
  );
}
