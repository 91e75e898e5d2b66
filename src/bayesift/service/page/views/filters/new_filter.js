// A new filter: a query, keywords for and against, a strategy.

import { api } from "../../api.js";
import { field, h, notify } from "../../dom.js";
import { STRATEGIES } from "../../format.js";
import { filterLink } from "./frame.js";

export function newFilterView() {
  const inputs = {
    name: h("input", {
      name: "name",
      required: true,
      maxlength: "100",
      autocomplete: "off",
      "data-focus": true,
    }),
    query: h("textarea", { name: "query", rows: "3" }),
    wordsFor: h("input", { name: "words-for", autocomplete: "off", autocapitalize: "off" }),
    past: h("input", { type: "checkbox", id: "past", checked: true }),
    wordsAgainst: h("input", { name: "words-against", autocomplete: "off", autocapitalize: "off" }),
  };
  const error = h("p", { class: "error", role: "alert" });
  const submit = h("button", { type: "submit", class: "primary" }, "Create filter");
  const form = h(
    "form",
    { class: "card form", on: { submit: event => create(event, inputs, submit, error) } },
    field("Name", inputs.name, "A short name, as it appears in lists."),
    field(
      "What are you looking for?",
      inputs.query,
      "One or a few sentences. Documents are compared with it until you have judged some.",
    ),
    h(
      "div",
      { class: "pair" },
      field("Keywords for", inputs.wordsFor, "Separated by commas. Optional."),
      field("Keywords against", inputs.wordsAgainst, "Separated by commas. Optional."),
    ),
    strategyField(),
    h(
      "p",
      { class: "check" },
      inputs.past,
      h("label", { for: "past" }, "Also look at documents that were added before"),
    ),
    error,
    h("p", { class: "row" }, submit, h("a", { class: "button quiet", href: "#/" }, "Cancel")),
  );
  return {
    title: "New filter",
    node: h("div", { class: "narrow" }, h("h1", {}, "New filter"), form),
  };
}

const strategyField = () =>
  h(
    "fieldset",
    { class: "choices" },
    h("legend", {}, "Which documents should it retrieve?"),
    STRATEGIES.map(([key, name, meaning], index) =>
      h(
        "div",
        { class: "choice" },
        h("input", {
          type: "radio",
          name: "strategy",
          value: key,
          id: `strategy-${index}`,
          checked: index === 0,
          "aria-describedby": `strategy-${index}-hint`,
        }),
        h("label", { for: `strategy-${index}` }, name),
        h("p", { id: `strategy-${index}-hint`, class: "hint" }, meaning),
      ),
    ),
  );

async function create(event, inputs, submit, error) {
  event.preventDefault();
  error.textContent = "";
  submit.disabled = true;
  const name = inputs.name.value.trim();
  try {
    const words = wordStrengths(inputs.wordsFor.value, inputs.wordsAgainst.value);
    await api.addFilter({
      name,
      query: inputs.query.value.trim() || null,
      words,
      strategy: event.target.elements.strategy.value,
      past: inputs.past.checked,
    });
    notify(`The filter “${name}” is ready. Add documents for it.`, {
      action: {
        label: "Add documents",
        run: () => {
          location.hash = "#/add";
        },
      },
    });
    location.hash = filterLink(name, "queue");
  } catch (problem) {
    error.textContent = `Not created: ${problem.message}`;
  } finally {
    submit.disabled = false;
  }
}

/** {word: 1 or -1}; a word on both sides is an error. */
export function wordStrengths(speakFor, speakAgainst) {
  const listed = text =>
    text
      .split(/[,;\n]/)
      .map(word => word.trim().toLowerCase())
      .filter(Boolean);
  const strengths = new Map(listed(speakFor).map(word => [word, 1]));
  for (const word of listed(speakAgainst)) {
    if (strengths.get(word) === 1) {
      throw new Error(`“${word}” cannot be a keyword for and against.`);
    }
    strengths.set(word, -1);
  }
  return Object.fromEntries(strengths);
}
