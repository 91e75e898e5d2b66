// The heading and the tabs of every view of a review.

import { api, mayDo } from "../../api.js";
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

const POLL_MILLISECONDS = 15_000;

/** Write what is to do into the badges of the tabs. */
export function showBadges(frame, progress) {
  for (const [tab, number] of Object.entries(toDo(progress))) {
    const badge = frame.querySelector(`[data-tab=${tab}] .number`);
    if (!badge) continue;
    badge.textContent = count(number);
    badge.classList.toggle("none", number === 0);
  }
}

const toDo = progress => ({ screen: progress.mine, conflicts: progress.conflicts });

/** Keep the badges right while others decide. */
export function watchProgress(id, frame, signal) {
  const timer = setInterval(async () => {
    if (document.hidden) return;
    try {
      showBadges(frame, await api.progress(id, signal));
    } catch {
      /* the last numbers stay */
    }
  }, POLL_MILLISECONDS);
  signal.addEventListener("abort", () => clearInterval(timer));
}

/** A view of a review: heading, tabs, content. */
export function framedReview(review, view, content, { wide = false } = {}) {
  const numbers = toDo(review.progress);
  const tabs = TABS.filter(([key]) => key !== "screen" || mayDo("reviewer", review));
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
