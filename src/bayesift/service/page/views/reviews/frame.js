// The heading and the tabs of every view of a review.

import { mayDo } from "../../api.js";
import { h, written } from "../../dom.js";
import { count } from "../../format.js";

const TABS = [
  ["screen", "Screen"],
  ["records", "Records"],
  ["conflicts", "Conflicts"],
  ["numbers", "Progress and export"],
  ["settings", "Settings"],
];

export const STAGES = [
  ["abstract", "Titles and abstracts"],
  ["full text", "Full texts"],
];

export const reviewLink = (id, view = "screen", about) =>
  `#/review/${id}/${view}${about === undefined ? "" : `/${encodeURIComponent(about)}`}`;

/** A view of a review: heading, tabs, content. */
export function framedReview(review, view, content, { wide = false } = {}) {
  const numbers = { screen: review.progress.mine, conflicts: review.progress.conflicts };
  const tabs = TABS.filter(([key]) => mayDo("reviewer") || !["screen", "settings"].includes(key));
  const label = Object.fromEntries(TABS)[view] ?? "Record";
  return {
    title: `${label}: ${review.name}`,
    wide,
    node: h(
      "div",
      { class: "product-view" },
      h(
        "div",
        { class: "product-head" },
        h("p", { class: "crumb" }, h("a", { href: "#/reviews" }, "Reviews")),
        h(
          "h1",
          {},
          written(review.name),
          review.stopped !== null && h("span", { class: "tag" }, "stopped"),
        ),
      ),
      h(
        "nav",
        { class: "tabs", "aria-label": "Review" },
        tabs.map(([key, name]) =>
          h(
            "a",
            {
              href: reviewLink(review.id, key),
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
