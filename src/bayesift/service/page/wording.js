// Numbers, times and the machine's reasons, in words.

const COUNT = new Intl.NumberFormat("en");
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "long" });
const SPANS = [["day", 86_400], ["hour", 3600], ["minute", 60]];

export const count = number => COUNT.format(number);
export const plural = (number, noun, nouns = `${noun}s`) => `${count(number)} ${number === 1 ? noun : nouns}`;

/** A probability without false certainty. */
export function percent(share) {
  if (share > 0 && share < 0.01) return "<1%";
  if (share < 1 && share > 0.99) return ">99%";
  return `${Math.round(100 * share)}%`;
}

/** How long ago. */
export function ago(time, now = Date.now()) {
  const seconds = (Date.parse(time) - now) / 1000;
  for (const [unit, span] of SPANS) if (-seconds >= span) return RELATIVE.format(Math.ceil(seconds / span), unit);
  return "just now";
}

export const exactTime = time => new Date(time).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });

/** Why a document was retrieved: a few words and a sentence. Then is not now: its probability may have moved since. */
export function reason({ why, probability, gain }) {
  return {
    relevant: ["Looks relevant", `Retrieved because the profile thought it relevant${probability < 0.5 ? "; it has learned since" : ""}.`],
    queried: ["Asked to learn", `Retrieved as a question: your answer, whichever it is, was expected to teach the profile much${bits(gain)}.`],
    random: ["Drawn by lot", "Drawn at random, to find what the profile would miss."],
  }[why] ?? ["Not retrieved", "The profile let it pass."];
}

const bits = gain => (Number.isFinite(gain) && gain > 0 ? ` (now about ${gain.toPrecision(2)} bits)` : "");

export const STRATEGIES = [
  ["+rel+ig", "Ask and remember", "Shows what looks relevant, asks about what would teach it most, and keeps relearning what you found. Best for rare subjects."],
  ["+ig", "Ask", "Shows what looks relevant and asks about what would teach it most."],
  ["+rel", "Remember", "Shows what looks relevant and keeps relearning what you found; never asks."],
  ["plain", "Plain", "Shows only what looks relevant."],
  ["+rnd", "By lot", "Shows what looks relevant and now and then a document drawn at random."],
];

export const strategyName = name => STRATEGIES.find(([key]) => key === name)?.[1] ?? name;

/** "about 12 ± 5 left" and how sure the machine is that enough was found; what the server says while it cannot tell. */
export function stoppingWords({ left, left_low, left_high, recall, probability_reached, sentence }) {
  if (left === null) return sentence;
  const spread = Math.round((left_high - left_low) / 2);
  const number = Math.round(left);
  const amount = spread > 0 ? `about ${count(number)} ± ${count(spread)} left` : number ? `about ${count(number)} left` : "none left, as far as it knows";
  return `${amount}; ${percent(recall)} recall reached with probability ${chance(probability_reached)}`;
}

function chance(probability) {
  if (probability < 0.005) return "below 0.01";
  return probability > 0.995 ? "above 0.99" : String(Number(probability.toFixed(2)));
}

export const verdict = relevant => (relevant ? "relevant" : "not relevant");

/** A document's title, or its beginning. */
export function titleOf(document) {
  const title = (document.title || "").trim();
  if (title) return title;
  const start = (document.text || "").trim().replace(/\s+/g, " ");
  return start ? `${start.slice(0, 80)}${start.length > 80 ? " …" : ""}` : `Document ${document.id}`;
}
