// What a view shows when it has no content.

import { h } from "../../dom.js";

export const empty = (heading, ...paragraphs) =>
  h(
    "section",
    { class: "empty" },
    h("h2", {}, heading),
    paragraphs.map(text => h("p", {}, text)),
  );
