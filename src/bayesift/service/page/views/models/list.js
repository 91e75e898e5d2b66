// All fitted models: what they give, what to expect of them, and whether new texts differ.

import { api, mayDo } from "../../api.js";
import { h, notify, when, written } from "../../dom.js";
import { count, plural } from "../../format.js";

const SHOWN_CATEGORIES = 8;

export const modelLink = name => `#/model/${encodeURIComponent(name)}`;

export async function modelsView(_params, signal) {
  const list = h("div", {});
  const refresh = async () => list.replaceChildren(cards(await api.models(signal)));
  await refresh();
  return {
    title: "Models",
    node: h(
      "div",
      {},
      h(
        "div",
        { class: "head" },
        h("h1", {}, "Models"),
        mayDo("admin") && h("div", { class: "row" }, uploadButton(refresh)),
      ),
      list,
    ),
  };
}

const cards = models =>
  models.length
    ? h("ul", { class: "cards" }, models.map(card))
    : h(
        "section",
        { class: "empty" },
        h("h2", {}, "No models yet"),
        h(
          "p",
          {},
          "A model sorts texts into categories. Fit one with bayesift fit, and add its file here; programs and people can then ask it.",
        ),
      );

function card(model) {
  const { name, categories, use } = model;
  return h(
    "li",
    { class: "card product-card" },
    h(
      "div",
      { class: "card-head" },
      h("h2", {}, h("a", { href: modelLink(name) }, written(name))),
      driftTag(use?.drift),
    ),
    model.trouble
      ? h("p", { class: "error" }, model.trouble)
      : h("p", { class: "query" }, categoryNames(categories)),
    model.quality && h("p", { class: "soft" }, "Expected: ", model.quality),
    h(
      "dl",
      { class: "counts" },
      figure("version", model.version),
      figure("texts", use?.n_texts ?? 0),
      figure("unsure", use?.n_unsure ?? 0),
      figure("corrected", model.n_corrections),
    ),
    h(
      "div",
      { class: "card-foot" },
      h("span", { class: "soft" }, "Added ", when(model.at)),
      h("a", { class: "button", href: modelLink(name) }, "Try a text"),
    ),
  );
}

const figure = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, count(value)));

export const driftTag = drift =>
  drift?.found && h("span", { class: "tag warn" }, "New texts differ");

function categoryNames(categories) {
  const more = categories.length - SHOWN_CATEGORIES;
  const shown = categories.slice(0, SHOWN_CATEGORIES).join(", ");
  return written(more > 0 ? `${shown} and ${plural(more, "other")}` : shown);
}

/**
 * A button that adds a model file, under its own name unless `name` is given.
 * @param {() => any} refresh
 * @param {string | null} [name]
 */
export function uploadButton(refresh, name = null) {
  const label = name === null ? "Add a model …" : "New version …";
  const input = h("input", {
    type: "file",
    accept: ".zip",
    class: "unseen",
    "aria-label": name === null ? "Add a model file" : "Add a version from a model file",
  });
  input.addEventListener("change", async () => {
    const [file] = input.files;
    input.value = "";
    const given = name ?? file.name.replace(/\.zip$/, "");
    try {
      const added = await api.addModel(given, file);
      notify(`Version ${added.version} of “${given}” answers now.`);
      await refresh();
    } catch (problem) {
      notify(`“${file.name}” was not added: ${problem.message}`, { kind: "failed" });
    }
  });
  return h("label", { class: "button primary" }, label, input);
}
