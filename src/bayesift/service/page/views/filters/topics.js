// Topics of the retrieved documents.

import { api } from "../../api.js";
import { h, written } from "../../dom.js";
import { count, plural, titleOf } from "../../format.js";
import { empty } from "../common/empty.js";
import { framed, filterLink } from "./frame.js";

export async function topicsView({ name }, signal) {
  const [filter, topics] = await Promise.all([api.filter(name, signal), api.topics(name, signal)]);
  if (!topics.length) {
    return framed(
      filter,
      "topics",
      empty(
        "No topics yet",
        "Topics are computed from retrieved documents; a few more are needed.",
      ),
    );
  }
  const most = Math.max(...topics.map(topic => topic.documents));
  return framed(
    filter,
    "topics",
    h(
      "ul",
      { class: "cards topics" },
      topics.map(topic => topicCard(name, topic, most)),
    ),
  );
}

const topicCard = (name, { words, documents, relevant, examples }, most) =>
  h(
    "li",
    { class: "card" },
    h(
      "h2",
      {},
      words.slice(0, 3).map((word, index) => [index ? ", " : "", written(word)]),
    ),
    h(
      "p",
      { class: "soft" },
      words.slice(3).map((word, index) => [index ? ", " : "", written(word)]),
    ),
    h(
      "p",
      { class: "topic-count" },
      h("span", {
        class: "share-bar",
        "aria-hidden": "true",
        vars: { share: documents / most, relevant: documents ? relevant / documents : 0 },
      }),
      `${plural(documents, "document")}, ${count(relevant)} judged relevant`,
    ),
    examples.length > 0 &&
      h(
        "ul",
        { class: "examples" },
        examples.map(example =>
          h(
            "li",
            {},
            h("a", { href: filterLink(name, "document", example.id) }, written(titleOf(example))),
          ),
        ),
      ),
  );
