// What every view of one profile has on top: its name, its tabs.

import { mayDo } from "../api.js";
import { h, written } from "../dom.js";
import { count } from "../wording.js";

const TABS = [["review", "Review"], ["overview", "Overview"], ["learned", "Learned"], ["topics", "Topics"],
  ["conflicts", "Conflicts"], ["judgements", "Judgements"]];

export const profileLink = (name, view, about) =>
  `#/profile/${encodeURIComponent(name)}/${view}${about === undefined ? "" : `/${encodeURIComponent(about)}`}`;

/** A view of a profile: heading, tabs, content. */
export function framed(profile, view, content, { wide = false } = {}) {
  const numbers = { review: profile.waiting, conflicts: profile.conflicts };
  const label = Object.fromEntries(TABS)[view];
  return {
    title: label ? `${label}: ${profile.name}` : profile.name,
    wide,
    node: h("div", { class: "profile-view" },
      h("div", { class: "profile-head" },
        h("p", { class: "crumb" }, h("a", { href: "#/" }, "Profiles")),
        h("h1", {}, written(profile.name), profile.paused && h("span", { class: "tag" }, "paused"))),
      h("nav", { class: "tabs", "aria-label": "Profile" }, TABS.filter(([key]) => key !== "review" || mayDo("reviewer")).map(([key, name]) =>
        h("a", { href: profileLink(profile.name, key), "aria-current": key === view ? "page" : null, data: { tab: key } },
          name, numbers[key] !== undefined && h("span", { class: `number${numbers[key] ? "" : " none"}` }, count(numbers[key]))))),
      content),
  };
}

/** A tab's number, when it changes while the view is open. */
export function setTabNumber(node, tab, number) {
  const badge = node.querySelector(`[data-tab=${tab}] .number`);
  if (!badge) return;
  badge.textContent = count(number);
  badge.classList.toggle("none", !number);
}

/** What a view shows when there is nothing to show. */
export const empty = (heading, ...paragraphs) =>
  h("section", { class: "empty" }, h("h2", {}, heading), paragraphs.map(text => h("p", {}, text)));
