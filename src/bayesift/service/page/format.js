// Numbers, times and reasons as text.

const COUNT = new Intl.NumberFormat("en");
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "long" });
/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const SPANS = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

export const count = number => COUNT.format(number);
export const plural = (number, noun, nouns = `${noun}s`) =>
  `${count(number)} ${number === 1 ? noun : nouns}`;

export const capital = text => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** A probability without false certainty. */
export function percent(share) {
  if (share > 0 && share < 0.01) return "<1%";
  if (share < 1 && share > 0.99) return ">99%";
  return `${Math.round(100 * share)}%`;
}

/** A time that work took. */
export const duration = hours =>
  hours < 1 ? `${Math.ceil(60 * hours)} min` : `${hours.toFixed(1)} h`;

/** How long ago. */
export function ago(time, now = Date.now()) {
  const seconds = (Date.parse(time) - now) / 1000;
  for (const [unit, span] of SPANS) {
    if (-seconds >= span) return RELATIVE.format(Math.ceil(seconds / span), unit);
  }
  return "just now";
}

export const exactTime = time =>
  new Date(time).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });

/** Why a document was retrieved: a label and a sentence. The probability may have changed since. */
export function reason({ why, probability, gain }) {
  return (
    {
      relevant: [
        "Likely relevant",
        `Retrieved because it was likely relevant${probability < 0.5 ? "; the filter has learned since" : ""}.`,
      ],
      queried: [
        "Most informative",
        `Retrieved because your judgement, either way, was expected to teach the filter much${bits(gain)}.`,
      ],
      random: ["Random sample", "Retrieved at random, to find what the filter would miss."],
    }[why] ?? ["Not retrieved", "The filter did not retrieve it."]
  );
}

const bits = gain =>
  Number.isFinite(gain) && gain > 0 ? ` (now about ${gain.toPrecision(2)} bits)` : "";

export const STRATEGIES = [
  [
    "+rel+ig",
    "Balanced",
    "Recommended. Likely relevant documents and the most informative ones; relearns from the relevant ones you found. Best for rare subjects.",
  ],
  [
    "+ig",
    "Most informative",
    "Likely relevant documents, and those whose judgement teaches the filter most.",
  ],
  [
    "+roi",
    "Most informative for your subject",
    "Likely relevant documents, and those whose judgement teaches most about documents like the relevant ones you found.",
  ],
  [
    "+rel",
    "Likely relevant, with rehearsal",
    "Likely relevant documents only; relearns from the relevant ones you found.",
  ],
  ["plain", "Likely relevant", "Likely relevant documents only."],
  [
    "+roi",
    "Most informative about what follows",
    "Likely relevant documents, and those whose judgement tells most about documents like the relevant ones you found.",
  ],
  ["+rnd", "Random sample", "Likely relevant documents, and now and then one at random."],
];

export const strategyName = name => STRATEGIES.find(([key]) => key === name)?.[1] ?? name;

export const verdict = relevant => (relevant ? "relevant" : "not relevant");

/** The title of a document, or the beginning of its text. */
export function titleOf(document) {
  const title = (document.title || "").trim();
  if (title) return title;
  const start = (document.text || "").trim().replace(/\s+/g, " ");
  return start
    ? `${start.slice(0, 80)}${start.length > 80 ? " …" : ""}`
    : `Document ${document.id}`;
}
