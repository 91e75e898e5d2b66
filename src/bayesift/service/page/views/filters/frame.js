// The heading and the tabs of every view of a filter.

import { mayDo } from "../../api.js";
import { h, written } from "../../dom.js";
import { count } from "../../format.js";

const TABS = [
  ["queue", "Queue"],
  ["overview", "Overview"],
  ["words", "Words"],
  ["topics", "Topics"],
  ["conflicts", "Conflicts"],
  ["judgements", "Judgements"],
];

export const filterLink = (name, view, about) =>
  `#/filter/${encodeURIComponent(name)}/${view}${about === undefined ? "" : `/${encodeURIComponent(about)}`}`;

/** A view of a filter: heading, tabs, content. */
export function framed(filter, view, content, { wide = false } = {}) {
  const numbers = { queue: filter.waiting, conflicts: filter.conflicts };
  const label = Object.fromEntries(TABS)[view];
  return {
    title: label ? `${label}: ${filter.name}` : filter.name,
    wide,
    node: h(
      "div",
      { class: "product-view" },
      h(
        "div",
        { class: "product-head" },
        h("p", { class: "crumb" }, h("a", { href: "#/" }, "Filters")),
        h("h1", {}, written(filter.name), filter.paused && h("span", { class: "tag" }, "paused")),
      ),
      h(
        "nav",
        { class: "tabs", "aria-label": "Filter" },
        TABS.filter(([key]) => key !== "queue" || mayDo("reviewer", filter)).map(([key, name]) =>
          h(
            "a",
            {
              href: filterLink(filter.name, key),
              "aria-current": key === view ? "page" : null,
              data: { tab: key },
            },
            name,
            numbers[key] !== undefined &&
              h("span", { class: `number${numbers[key] ? "" : " none"}` }, count(numbers[key])),
          ),
        ),
      ),
      content,
    ),
  };
}

/** Update the number of a tab. */
export function setTabNumber(node, tab, number) {
  const badge = node.querySelector(`[data-tab=${tab}] .number`);
  if (!badge) return;
  badge.textContent = count(number);
  badge.classList.toggle("none", !number);
}
