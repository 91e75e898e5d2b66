// One fitted model: try a text, see the reasons, correct the answer, choose the version.

import { api, mayDo } from "../../api.js";
import { weightBar } from "../../charts.js";
import { attempt, button, field, h, newest, notify, openDialog, when, written } from "../../dom.js";
import { count, percent, plural } from "../../format.js";
import { markedText, signed } from "../../highlight.js";
import { driftTag, uploadButton } from "./list.js";

const SHOWN_WORDS = 10;
const PAUSE = 400; // milliseconds without a key, until a text is classified

export async function modelView({ name }, signal) {
  const about = h("div", {}),
    answer = h("div", { role: "status", class: "stack" }),
    versions = h("div", {});
  let model = await api.model(name, signal);
  const refresh = async () => {
    model = await api.model(name, signal);
    about.replaceChildren(aboutModel(model));
    versions.replaceChildren(versionList(model, await api.versions(name, signal), refresh));
  };
  await refresh();
  const ask = row => show(answer, model, row, signal);
  return {
    title: name,
    wide: true,
    node: h(
      "div",
      {},
      h(
        "div",
        { class: "head" },
        h("h1", {}, written(name)),
        h("div", { class: "row" }, tools(model, refresh)),
      ),
      h(
        "div",
        { class: "two" },
        h(
          "div",
          { class: "stack" },
          model.trouble
            ? h("p", { class: "error", role: "alert" }, model.trouble)
            : h(
                "section",
                { class: "card" },
                h("h2", {}, "Try a text"),
                questionForm(model.fields, ask),
              ),
          answer,
        ),
        h(
          "div",
          { class: "stack" },
          h("section", { class: "card" }, h("h2", {}, "About this model"), about),
          h("section", { class: "card" }, h("h2", {}, "Versions"), versions),
        ),
      ),
    ),
  };
}

function tools(model, refresh) {
  const base = `api/models/${encodeURIComponent(model.name)}`;
  return [
    h("a", { class: "button", href: `${base}/card`, download: "" }, "Model card"),
    model.n_corrections > 0 &&
      h("a", { class: "button", href: `${base}/corrections.csv`, download: "" }, "Corrections"),
    mayDo("admin") && uploadButton(refresh, model.name),
    mayDo("admin") && button("Remove …", { class: "quiet" }, () => askToRemove(model.name)),
  ];
}

function askToRemove(name) {
  const remove = () =>
    attempt(() => api.removeModel(name), {
      done: `“${name}” was removed.`,
      failed: "Not removed",
      then: async () => (location.hash = "#/models"),
    });
  const dialog = openDialog(
    "Remove the model?",
    h("p", {}, "It answers no more, in no version. Corrections of its answers stay in the log."),
    h(
      "p",
      { class: "row" },
      button("Remove", { class: "danger" }, () => {
        dialog.close();
        remove();
      }),
      button("Cancel", {}, () => dialog.close()),
    ),
  );
}

/** A field for each column of the model; what is typed is classified after a moment. */
function questionForm(fields, ask) {
  const inputs = fields.map((name, index) => {
    const isText = index === lastText(fields);
    return [name, isText ? h("textarea", { rows: "6", name }) : h("input", { name })];
  });
  const row = () => Object.fromEntries(inputs.map(([name, input]) => [name, valueOf(input)]));
  const submit = event => {
    event.preventDefault();
    ask(row());
  };
  const form = h(
    "form",
    { on: { submit } },
    inputs.map(([name, input]) => field(name, input)),
    h("p", {}, h("button", { type: "submit", class: "primary" }, "Classify")),
  );
  let timer = null;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => ask(row()), PAUSE);
  });
  return form;
}

/** The longest field: that of the text, which is the second one where there is a title. */
const lastText = fields => Math.min(1, fields.length - 1);

const valueOf = input =>
  input.tagName === "INPUT" && input.value !== "" && Number.isFinite(Number(input.value))
    ? Number(input.value)
    : input.value;

/** Classify and explain a text; of several answers that of the newest text is shown. */
function show(place, model, row, signal) {
  place.latest = row;
  const text = Object.values(row)
    .filter(value => typeof value === "string")
    .join("\n");
  if (!text.trim()) return place.replaceChildren();
  const load = async () => {
    const [{ answers, version }, explained] = await Promise.all([
      api.classify(model.name, row, signal),
      api.explainText(model.name, row, signal),
    ]);
    return { answer: answers[0], version, explained };
  };
  const draw = found => {
    if (place.latest === row) place.replaceChildren(...answerParts(model, row, text, found));
  };
  return newest(load, draw)().catch(problem => {
    if (!signal.aborted && place.latest === row) {
      place.replaceChildren(h("p", { class: "error" }, problem.message));
    }
  });
}

function answerParts(model, row, text, { answer, version, explained }) {
  const [first] = explained.categories;
  const words = first.terms.map(({ term, contribution }) => ({ word: term, weight: contribution }));
  return [
    h(
      "section",
      { class: "card" },
      h("h2", {}, answer.categories.length ? written(answer.categories.join(", ")) : "No category"),
      h("ul", { class: "rows scores" }, answer.scores.map(scoreRow)),
      unknownWords(answer.unseen, explained.unseen_terms),
      mayDo("reviewer") && correction(model, row, answer, version),
    ),
    h(
      "section",
      { class: "card" },
      h("h2", {}, "Why ", written(first.category)),
      h("div", { class: "text", dir: "auto" }, markedText(text, words)),
      termList(first.terms),
    ),
  ];
}

/** What share of the words the model does not know; pairs of words are left out. */
function unknownWords(share, terms) {
  const words = terms.filter(term => !term.includes(" "));
  if (!share || !words.length) return null;
  const sentence = `${percent(share)} of the words are not known to the model: `;
  return h("p", { class: "soft" }, sentence, written(words.slice(0, SHOWN_WORDS).join(", ")));
}

const scoreRow = ({ category, score }) =>
  h(
    "li",
    {},
    h("span", { class: "grow" }, written(category)),
    score >= 0 &&
      score <= 1 &&
      h("meter", { min: "0", max: "1", value: String(score), "aria-hidden": "true" }),
    h("span", { class: "weight" }, score >= 0 && score <= 1 ? percent(score) : score.toFixed(2)),
  );

function termList(terms) {
  const strongest = Math.max(...terms.map(({ contribution }) => Math.abs(contribution)), 0);
  return h(
    "div",
    { class: "words" },
    h(
      "ul",
      {},
      terms
        .slice(0, SHOWN_WORDS)
        .map(({ term, contribution }) =>
          h(
            "li",
            {},
            h("span", { class: "word" }, written(term)),
            weightBar(contribution, strongest),
            h("span", { class: "weight" }, signed(contribution)),
          ),
        ),
    ),
  );
}

/** Choose the right category; it is kept as a label for the next fit. */
function correction(model, row, answer, version) {
  const choice = h(
    "select",
    { multiple: model.multilabel },
    model.categories.map(name =>
      h("option", { value: name, selected: answer.categories.includes(name) }, name),
    ),
  );
  const submit = async event => {
    event.preventDefault();
    const chosen = [...choice.selectedOptions].map(option => option.value);
    await attempt(() => api.correct(model.name, row, chosen), {
      done: "Kept as a label for the next fit.",
      failed: "Not kept",
    });
  };
  return h(
    "form",
    { class: "pair bottom", on: { submit } },
    field("Right category", choice, `Answered by version ${version}`),
    h("p", {}, h("button", { type: "submit" }, "Keep as a label")),
  );
}

function aboutModel(model) {
  const { use } = model;
  return h(
    "div",
    {},
    model.quality && h("p", {}, "Expected on new texts: ", model.quality),
    h("p", { class: "soft" }, plural(model.categories.length, "category", "categories")),
    use &&
      h(
        "p",
        { class: "soft" },
        `${plural(use.n_texts, "text")} since it was loaded, ${count(use.n_unsure)} of them unsure.`,
      ),
    driftWords(use?.drift),
    h(
      "p",
      { class: "soft" },
      "Programs ask by ",
      h("code", {}, `POST /api/models/${model.name}/classify`),
    ),
  );
}

function driftWords(drift) {
  if (!drift) return null;
  const tests = [
    drift.words !== null && `unknown words against the training p = ${pValue(drift.words)}`,
    drift.probabilities !== null &&
      `probabilities against the first texts p = ${pValue(drift.probabilities)}`,
  ].filter(Boolean);
  return h(
    "p",
    {},
    driftTag(drift) || "No change of the texts was found. ",
    h(
      "small",
      { class: "soft" },
      ` The newest ${plural(drift.n_texts, "text")}: ${tests.join(", ")}.`,
    ),
  );
}

const pValue = value => (value < 0.001 ? "<.001" : value.toFixed(3).replace(/^0/, ""));

const versionList = ({ name }, versions, refresh) =>
  h(
    "ul",
    { class: "rows" },
    versions
      .toReversed()
      .map(({ version, at, user, current }) =>
        h(
          "li",
          {},
          h(
            "span",
            { class: "grow" },
            `Version ${version}, `,
            when(at),
            user && [" by ", written(user)],
          ),
          current
            ? h("span", { class: "tag" }, "answers")
            : mayDo("admin") &&
                button("Use this", { class: "quiet" }, () => chooseVersion(name, version, refresh)),
        ),
      ),
  );

async function chooseVersion(name, version, refresh) {
  try {
    await api.chooseVersion(name, version);
  } catch (problem) {
    notify(`Not changed: ${problem.message}`, { kind: "failed" });
    return;
  }
  notify(`Version ${version} answers now.`);
  await refresh();
}
