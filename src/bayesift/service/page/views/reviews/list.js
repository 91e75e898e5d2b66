// All reviews, with how far they are.

import { api, mayDo } from "../../api.js";
import { attempt, button, h, notify, when, written } from "../../dom.js";
import { count, plural } from "../../format.js";
import { reviewLink } from "./frame.js";

export async function reviewsView(_params, signal) {
  const list = h("div", {});
  const refresh = async () => list.replaceChildren(...(await lists(signal, () => refresh())));
  await refresh();
  return {
    title: "Reviews",
    node: h(
      "div",
      {},
      h(
        "div",
        { class: "head" },
        h("h1", {}, "Reviews"),
        mayDo("reviewer") &&
          h(
            "div",
            { class: "row" },
            projectButton(),
            h("a", { class: "button primary", href: "#/new-review" }, "New review"),
          ),
      ),
      list,
    ),
  };
}

async function lists(signal, refresh) {
  const [reviews, deleted] = await Promise.all([api.reviews(signal), api.deletedReviews(signal)]);
  const own = deleted.filter(review => mayDo("owner", review));
  return [
    reviews.length ? h("ul", { class: "cards" }, reviews.map(card)) : noReviews(),
    ...(own.length ? [deletedList(own, refresh)] : []),
  ];
}

const card = review =>
  h(
    "li",
    { class: "card product-card" },
    h(
      "div",
      { class: "card-head" },
      h("h2", {}, h("a", { href: reviewLink(review.id) }, written(review.name))),
      review.conflicts > 0 &&
        h(
          "a",
          { class: "tag warn", href: reviewLink(review.id, "conflicts") },
          plural(review.conflicts, "conflict"),
        ),
    ),
    h(
      "div",
      {},
      h("progress", {
        max: review.records,
        value: review.decided,
        "aria-label": `Progress of ${review.name}`,
      }),
      h(
        "p",
        { class: "soft" },
        `${count(review.decided)} of ${plural(review.records, "record")} decided`,
        review.waiting > 0 && `, ${count(review.waiting)} waiting for a second reviewer`,
      ),
    ),
    h(
      "div",
      { class: "card-foot" },
      h(
        "span",
        { class: "soft" },
        "begun ",
        when(review.created_at),
        " by ",
        written(review.created_by),
      ),
      mayDo("reviewer", review) &&
        h("a", { class: "button", href: reviewLink(review.id) }, "Screen"),
    ),
  );

const noReviews = () =>
  h(
    "section",
    { class: "empty" },
    h("h2", {}, "No reviews yet"),
    h(
      "p",
      {},
      "A review is a fixed set of records, such as the results of a search in PubMed or Scopus. Drop the files here, say what you look for, and screen the records from the most relevant down. Every decision improves the order.",
    ),
    mayDo("reviewer") &&
      h(
        "p",
        {},
        h("a", { class: "button primary", href: "#/new-review" }, "Begin the first review"),
      ),
  );

const deletedList = (deleted, refresh) =>
  h(
    "section",
    { class: "card" },
    h("h2", {}, "Deleted"),
    h(
      "ul",
      { class: "rows" },
      deleted.map(review =>
        h(
          "li",
          {},
          h(
            "span",
            { class: "grow" },
            written(review.name),
            " ",
            h("span", { class: "soft" }, "deleted ", when(review.deleted_at)),
          ),
          button("Restore", { "aria-label": `Restore ${review.name}` }, () =>
            attempt(() => api.restoreReview(review.id), {
              done: `“${review.name}” is back with all its decisions.`,
              failed: "Not restored",
              then: refresh,
            }),
          ),
        ),
      ),
    ),
  );

function projectButton() {
  const input = h("input", {
    type: "file",
    accept: ".zip",
    class: "unseen",
    "aria-label": "Open a project of the command line",
  });
  input.addEventListener("change", async () => {
    const [file] = input.files;
    input.value = "";
    try {
      location.hash = reviewLink((await api.openProject(file)).id);
    } catch (problem) {
      notify(`“${file.name}” was not opened: ${problem.message}`, { kind: "failed" });
    }
  });
  return h("label", { class: "button" }, "Open project …", input);
}
