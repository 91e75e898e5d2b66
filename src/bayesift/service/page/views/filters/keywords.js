// Setting keywords: by typing, by clicking a word of the text, by selecting words.

import { button, field, h, written } from "../../dom.js";

const WORD = /[\p{L}\p{N}\p{M}_]{2,}|\p{sc=Han}/gu;
const MOST_WORDS = 4;

const wordsIn = text => [...new Set(text.toLowerCase().match(WORD) ?? [])];

/** A form for a word, or several. */
export function keywordForm(teach, hint) {
  const input = h("input", {
    name: "word",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    maxlength: "100",
  });
  const send = strength => {
    const words = wordsIn(input.value);
    for (const word of words) teach(word, strength);
    if (words.length) input.value = "";
    input.focus();
  };
  return h(
    "form",
    {
      class: "teach",
      on: {
        submit: event => {
          event.preventDefault();
          send(event.submitter?.value === "against" ? -1 : 1);
        },
      },
    },
    h("h3", {}, "Set a keyword"),
    field("Keyword", input, hint),
    h(
      "p",
      { class: "row" },
      h(
        "button",
        { type: "submit", class: "for", value: "for", "aria-label": "Evidence for" },
        "For",
      ),
      h(
        "button",
        { type: "submit", class: "against", value: "against", "aria-label": "Evidence against" },
        "Against",
      ),
    ),
  );
}

/** Offer to set the clicked word, or the selected words, as keywords. */
export function keywordOnClick(place, teach, signal) {
  let bubble = null;
  const close = () => {
    bubble?.remove();
    bubble = null;
  };
  place.addEventListener(
    "mouseup",
    event => {
      if (!closest(event, ".text, h2") || event.button !== 0) return;
      setTimeout(() => {
        // the selection is final only after the click
        const chosen = chosenWords(event);
        close();
        if (chosen.words.length) bubble = offer(chosen, teach, close);
      });
    },
    { signal },
  );
  document.addEventListener(
    "mousedown",
    event => {
      if (!closest(event, ".bubble")) close();
    },
    { signal },
  );
  document.addEventListener(
    "keydown",
    event => {
      if (event.key === "Escape" || !closest(event, ".bubble")) close();
    },
    { signal },
  );
  signal.addEventListener("abort", close);
}

function chosenWords(event) {
  const selection = getSelection();
  const range = selection.isCollapsed
    ? wordAt(event.clientX, event.clientY)
    : selection.getRangeAt(0);
  if (!range) return { words: [], box: null };
  return {
    words: wordsIn(range.toString()).slice(0, MOST_WORDS),
    box: range.getBoundingClientRect(),
  };
}

/** The word under a point, as a range. */
function wordAt(x, y) {
  const { node, offset } = caretAt(x, y);
  if (node?.nodeType !== Node.TEXT_NODE) return null;
  for (const match of node.textContent.matchAll(WORD)) {
    const end = match.index + match[0].length;
    if (match.index > offset || end < offset) continue;
    const range = document.createRange();
    range.setStart(node, match.index);
    range.setEnd(node, end);
    return range;
  }
  return null;
}

function caretAt(x, y) {
  if (document.caretPositionFromPoint) {
    const caret = document.caretPositionFromPoint(x, y);
    return { node: caret?.offsetNode, offset: caret?.offset };
  }
  const range = document.caretRangeFromPoint?.(x, y);
  return { node: range?.startContainer, offset: range?.startOffset };
}

/** Placed beside the words, outside the document, which is redrawn when its figures change. */
function offer({ words, box }, teach, close) {
  const lines = words.map(word =>
    h(
      "div",
      { class: "row" },
      h("strong", {}, written(word)),
      button("for", { class: "for" }, () => {
        close();
        teach(word, 1);
      }),
      button("against", { class: "against" }, () => {
        close();
        teach(word, -1);
      }),
    ),
  );
  const bubble = h(
    "div",
    { class: "bubble", role: "dialog", "aria-label": "Set a keyword" },
    h("p", { class: "hint" }, "Evidence for or against relevance?"),
    lines,
  );
  document.body.append(bubble);
  const left = Math.min(
    Math.max(box.left, 8),
    document.documentElement.clientWidth - bubble.offsetWidth - 8,
  );
  bubble.style.setProperty("left", `${left + scrollX}px`);
  bubble.style.setProperty("top", `${box.bottom + scrollY + 6}px`);
  return bubble;
}

/** The nearest element around the target of an event that a selector names. */
const closest = (event, selector) => /** @type {Element} */ (event.target).closest(selector);
