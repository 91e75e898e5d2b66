// The page around a scorer: a text, bars of probabilities, and the reasons of one category.
"use strict";

(() => {
  const scorer = /** @type {any} */ (globalThis).scorer;
  const FEW = 12; // categories that are listed unasked
  const LISTED = 15; // words of the reasons
  const LEAST_MARKED = 0.04; // of the strongest word
  const STRONGEST_MARK = 45; // percent of colour
  const PATIENCE = 120; // milliseconds after the last key

  const find = id => /** @type {any} */ (document.getElementById(id));
  let chosen = null; // the category whose reasons are shown
  let areAllListed = false;

  /** An element; all text is text, never HTML. */
  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  /** A share in percent; what is not certain is not called so. */
  function share(value) {
    if (value > 0.999 && value < 1) {
      return "> 99.9%";
    }
    return value < 0.001 && value > 0 ? "< 0.1%" : `${(100 * value).toFixed(1)}%`;
  }
  const signed = value => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
  const shown = score => (scorer.hasProbabilities ? share(score) : signed(score));

  function bar(percent) {
    const inner = element("span");
    inner.style.width = `${percent}%`;
    inner.style.setProperty("--width", `${percent}%`);
    return element("span", { class: "bar" }, inner);
  }

  function columns() {
    const values = {};
    for (const { name } of scorer.columns) values[name] = find(`column ${name}`).value || null;
    return values;
  }

  function listCategories({ categories, scores }, explained) {
    const ordered = [...scorer.categories].sort((one, other) => scores[other] - scores[one]);
    const assigned = new Set(categories);
    const listed = ordered.filter((name, i) => areAllListed || i < FEW || assigned.has(name));
    const largest = Math.max(...ordered.map(name => Math.abs(scores[name])), 1e-12);
    find("categories").replaceChildren(
      ...listed.map(name => {
        const length = scorer.hasProbabilities ? scores[name] : Math.max(scores[name], 0) / largest;
        const button = element(
          "button",
          {
            type: "button",
            class: assigned.has(name) ? "assigned" : "",
            "aria-pressed": String(name === explained),
          },
          element("bdi", {}, (assigned.has(name) ? "✓ " : "") + name),
          bar(100 * length),
          element("span", { class: "number" }, shown(scores[name])),
        );
        button.addEventListener("click", () => {
          chosen = name;
          show();
        });
        return element("li", {}, button);
      }),
    );
    find("all").hidden = listed.length === ordered.length;
    find("all").textContent = `Show all ${ordered.length.toLocaleString()} categories`;
  }

  /** The parts of a text: [part, word], the word in lower case or null. */
  function pieces(text) {
    const found = [];
    for (const character of text) {
      const last = found.at(-1);
      const isWord = scorer.isWord(character);
      if (isWord && last?.isWord) last.part += character;
      else if (scorer.isUnspaced(character) || isWord) found.push({ part: character, isWord });
      else if (last && !last.isWord && last.word === null) last.part += character;
      else found.push({ part: character, isWord: false, word: null });
    }
    return found.map(({ part, word }) => [part, word === null ? null : scorer.lowerCase(part)]);
  }

  function markWords(text, terms) {
    const added = new Map(terms.map(({ term, contribution }) => [term, contribution]));
    const strongest = Math.max(...terms.map(({ contribution }) => Math.abs(contribution)), 1e-12);
    find("marked").replaceChildren(
      ...pieces(text).map(([part, word]) => {
        const value = added.get(word) ?? 0;
        if (Math.abs(value) < LEAST_MARKED * strongest) return part;
        const mark = element(
          "mark",
          { title: signed(value), class: value < 0 ? "against" : "" },
          part,
        );
        mark.style.setProperty("--strength", `${(STRONGEST_MARK * Math.abs(value)) / strongest}%`);
        return mark;
      }),
    );
  }

  function listReasons({ prior, terms }) {
    const rows = [
      { term: "before any word", contribution: prior },
      ...terms.slice(0, LISTED).filter(({ contribution }) => contribution !== 0),
    ];
    const largest = Math.max(...rows.map(({ contribution }) => Math.abs(contribution)), 1e-12);
    find("reasons").replaceChildren(
      ...rows.map(({ term, contribution }, i) =>
        element(
          "li",
          { class: contribution < 0 ? "against" : "for" },
          element(i ? "bdi" : "em", {}, term),
          bar((50 * Math.abs(contribution)) / largest),
          element("span", { class: "number" }, signed(contribution)),
        ),
      ),
    );
  }

  function decisionOf({ score, threshold, assigned }) {
    const kind = scorer.hasProbabilities ? "probability" : "score";
    const limit = threshold === null ? "" : `, assigned above ${shown(threshold)}`;
    return `${assigned ? "Assigned" : "Not assigned"}: ${kind} ${shown(score)}${limit}. Bars: what words add to the ${scorer.hasProbabilities ? "log odds" : "score"}.`;
  }

  function show() {
    const text = find("text").value;
    find("answer").hidden = !text.trim();
    if (!text.trim()) return;
    try {
      const explained = scorer.explain(text, {
        columns: columns(),
        categories: chosen === null ? null : [chosen],
        top: Infinity,
      });
      const [reasons] = explained.categories;
      const named = reasons.category;
      listCategories(scorer.classify(text, columns()), named);
      find("reasons-of").replaceChildren("Reasons for ", element("bdi", {}, named));
      find("decision").textContent = decisionOf(reasons);
      markWords(text, reasons.terms);
      listReasons(reasons);
      find("unseen").textContent = explained.unseen
        ? `${share(explained.unseen_share)} of the text is new to the model: ${explained.unseen_terms.slice(0, 8).join(", ")}`
        : "The model knows every word of the text.";
    } catch (error) {
      find("unseen").textContent = String(error instanceof Error ? error.message : error);
    }
  }

  let waiting;
  function showSoon() {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      chosen = null;
      show();
    }, PATIENCE);
  }

  for (const { name } of scorer.columns) {
    const field = element("input", { id: `column ${name}`, autocomplete: "off" });
    field.addEventListener("input", showSoon);
    find("columns").append(element("label", {}, element("bdi", {}, name), field));
  }
  find("text").addEventListener("input", showSoon);
  find("all").addEventListener("click", () => {
    areAllListed = true;
    show();
  });
  const about = [`${scorer.categories.length.toLocaleString()} categories`, ...scorer.quality];
  find("about").textContent = `${about.join(". ")}. Exported by bayesift ${scorer.version}.`;
  show();
})();
