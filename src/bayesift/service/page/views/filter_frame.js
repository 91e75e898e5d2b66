// The heading and the tabs of every view of a filter.

import { mayDo } from "../api.js";
import { h, written } from "../dom.js";
import { count } from "../format.js";

const TABS = [["review", "Review"], ["overview", "Overview"], ["words", "Words"], ["topics", "Topics"],
  ["conflicts", "Conflicts"], ["judgements", "Judgements"]];

export const filterLink = (name, view, about) =>
  `#/filter/${encodeURIComponent(name)}/${view}${about === undefined ? "" : `/${encodeURIComponent(about)}`}`;

/** A view of a filter: heading, tabs, content. */
export function framed(profile, view, content, { wide = false } = {}) {
  const numbers = { review: profile.waiting, conflicts: profile.conflicts };
  const label = Object.fromEntries(TABS)[view];
  return {
    title: label ? `${label}: ${profile.name}` : profile.name,
    wide,
    node: h("div", { class: "profile-view" },
      h("div", { class: "profile-head" },
        h("p", { class: "crumb" }, h("a", { href: "#/" }, "Filters")),
        h("h1", {}, written(profile.name), profile.paused && h("span", { class: "tag" }, "paused"))),
      h("nav", { class: "tabs", "aria-label": "Filter" }, TABS.filter(([key]) => key !== "review" || mayDo("reviewer")).map(([key, name]) =>
        h("a", { href: filterLink(profile.name, key), "aria-current": key === view ? "page" : null, data: { tab: key } },
          name, numbers[key] !== undefined && h("span", { class: `number${numbers[key] ? "" : " none"}` }, count(numbers[key]))))),
      content),
  };
}

/** Update the number of a tab. */
export function setTabNumber(node, tab, number) {
  const badge = node.querySelector(`[data-tab=${tab}] .number`);
  if (!badge) return;
  badge.textContent = count(number);
  badge.classList.toggle("none", !number);
}

/** What a view shows when it has no content. */
export const empty = (heading, ...paragraphs) =>
  h("section", { class: "empty" }, h("h2", {}, heading), paragraphs.map(text => h("p", {}, text)));
