// All judgements, newest first.

import { api, mayDo, session } from "../../api.js";
import { attempt, button, h, sign, when, written } from "../../dom.js";
import { count, titleOf, verdict } from "../../format.js";
import { empty } from "../common/empty.js";
import { framed, filterLink } from "./frame.js";

const SHOWN = 200;

export async function judgementsView({ name }, signal) {
  const place = h("div", {});
  const refresh = async () => {
    const judgements = await api.judgements(name, SHOWN, signal);
    place.replaceChildren(
      judgements.length
        ? table(judgements, takeBack, name)
        : empty("No judgements yet", "Judgements are listed here with reviewer and time."),
    );
  };
  const takeBack = id =>
    attempt(() => api.takeBack(name, id), {
      done: "Judgement removed; the filter has unlearned it.",
      failed: "Not removed",
      then: refresh,
    });
  const [filter] = await Promise.all([api.filter(name, signal), refresh()]);
  return framed(filter, "judgements", place);
}

function table(judgements, takeBack, name) {
  const mine = ({ user }) => mayDo("reviewer") && user === session.value?.user;
  return h(
    "section",
    { class: "card" },
    h(
      "ul",
      { class: "rows judged" },
      judgements.map(judgement =>
        h(
          "li",
          {},
          h(
            "span",
            { class: `standing ${judgement.relevant ? "for" : "against"}` },
            sign(judgement.relevant ? "✓ " : "✕ "),
            verdict(judgement.relevant),
          ),
          h(
            "a",
            { class: "grow", href: filterLink(name, "document", judgement.document) },
            written(titleOf({ id: judgement.document, title: judgement.title })),
          ),
          h("span", { class: "soft" }, written(judgement.user), ", ", when(judgement.at)),
          mine(judgement) &&
            button(
              "Remove",
              {
                class: "quiet",
                "aria-label": `Remove the judgement of document ${judgement.document}`,
              },
              () => takeBack(judgement.document),
            ),
        ),
      ),
    ),
    judgements.length === SHOWN &&
      h(
        "p",
        { class: "soft" },
        `The newest ${count(SHOWN)} are shown; the export has all of them.`,
      ),
  );
}
