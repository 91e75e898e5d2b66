// Charts in SVG, each with a text alternative.

import { h, s } from "./dom.js";
import { count, percent, plural } from "./format.js";

/** Relevant documents found over documents judged, small and without axes. */
export function sparkline(points) {
  const last = points.at(-1) ?? { judged: 0, relevant: 0 };
  const line = points.map(
    ({ judged, relevant }) =>
      `${100 * share(judged, last.judged)},${32 - 30 * share(relevant, last.relevant)}`,
  );
  return s(
    "svg",
    {
      class: "sparkline",
      viewBox: "0 0 100 34",
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": curveWords(last),
    },
    s("polygon", { class: "area", points: `0,33 ${line.join(" ")} 100,33` }),
    s("polyline", { class: "line", points: line.join(" ") }),
  );
}

/**
 * The same at full size, redrawn when the width changes.
 * @param {{judged: number, relevant: number, expected_relevant?: number}[]} points
 * @param {AbortSignal} signal
 * @param {{noun?: string, whole?: number | null, stops?: {at: number, label: string}[]}} [options] `whole` is how many
 *   relevant ones are expected in all, `stops` are numbers judged where a rule would have ended it
 */
export function learningCurve(
  points,
  signal,
  { noun = "document", whole = null, stops = [] } = {},
) {
  const figure = h("figure", { class: "curve" });
  const last = points.at(-1) ?? { judged: 0, relevant: 0 };
  const caption = h(
    "figcaption",
    {},
    curveWords(last, noun),
    points.some(hasExpected) && ". Dashed: what the filter expected to find.",
    whole !== null &&
      `. Dashed: about ${count(Math.round(whole))} expected in all, so that about ${percent(share(last.relevant, whole))} are found.`,
  );
  const observer = new ResizeObserver(([entry]) => {
    const width = Math.round(entry.contentRect.width);
    if (width > 0) figure.replaceChildren(drawCurve(points, width, whole, stops), caption);
  });
  observer.observe(figure);
  signal.addEventListener("abort", () => observer.disconnect());
  return figure;
}

const hasExpected = point => Number.isFinite(point.expected_relevant);
const share = (part, whole) => (whole ? part / whole : 0);
const curveWords = (last, noun = "document") =>
  `${plural(last.judged, noun)} judged, ${count(last.relevant)} of them relevant`;

function drawCurve(points, width, whole, stops) {
  const height = 240,
    left = 40,
    right = 12,
    top = 12,
    bottom = 40;
  const most = points.at(-1);
  const tallest = Math.max(
    ...points.map(point => Math.max(point.relevant, point.expected_relevant ?? 0)),
    whole ?? 1,
    1,
  );
  const x = judged => left + share(judged, most.judged) * (width - left - right);
  const y = relevant => height - bottom - (relevant / tallest) * (height - top - bottom);
  const path = value =>
    points
      .filter(point => Number.isFinite(value(point)))
      .map(point => `${x(point.judged).toFixed(1)},${y(value(point)).toFixed(1)}`)
      .join(" ");
  return s(
    "svg",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `Learning curve: ${curveWords(most)}`,
    },
    ticks(tallest).map(tick =>
      s(
        "g",
        {},
        s("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
        s("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, count(tick)),
      ),
    ),
    ticks(most.judged).map(tick =>
      s("text", { x: x(tick), y: height - bottom + 18, "text-anchor": "middle" }, count(tick)),
    ),
    s(
      "text",
      { class: "axis", x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" },
      "judged",
    ),
    s(
      "text",
      {
        class: "axis",
        x: 0,
        y: 0,
        transform: `translate(10 ${(height - bottom) / 2}) rotate(-90)`,
        "text-anchor": "middle",
      },
      "relevant",
    ),
    s("line", {
      class: "every",
      x1: x(0),
      y1: y(0),
      x2: x(Math.min(tallest, most.judged)),
      y2: y(Math.min(tallest, most.judged)),
    }),
    whole !== null &&
      s("line", { class: "expected", x1: left, x2: width - right, y1: y(whole), y2: y(whole) }),
    points.some(hasExpected) &&
      s("polyline", { class: "expected", points: path(point => point.expected_relevant) }),
    s("polyline", { class: "line", points: path(point => point.relevant) }),
    stops.map(({ at, label }, index) => [
      s("line", { class: "stop", x1: x(at), x2: x(at), y1: top, y2: height - bottom }),
      s(
        "text",
        {
          class: "stop",
          x: x(at) + (x(at) > width / 2 ? -6 : 6),
          y: height - bottom - 10 - 18 * index,
          "text-anchor": x(at) > width / 2 ? "end" : "start",
        },
        label,
      ),
    ]),
  );
}

/** Round numbers from 0 to at most the highest, four or so. */
export function ticks(highest) {
  const rough = Math.max(highest / 4, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find(factor => factor * power >= rough) * power;
  return Array.from({ length: Math.floor(highest / step) + 1 }, (_, index) => index * step);
}

/** A probability on a scale from 0 to 1, with the interval it lies in. */
export function probabilityBar({ probability, low, high }) {
  const spread = Number.isFinite(low) && Number.isFinite(high);
  return h(
    "div",
    {
      class: "probability-bar",
      role: "img",
      "aria-label": probabilityWords({ probability, low, high }),
      vars: { at: probability, low: spread ? low : probability, high: spread ? high : probability },
    },
    h("span", { class: "scale" }),
    h("span", { class: "spread" }),
    h("span", { class: "at" }),
  );
}

function probabilityWords({ probability, low, high }) {
  const spread =
    Number.isFinite(low) && Number.isFinite(high)
      ? `, with 90% certainty between ${percent(low)} and ${percent(high)}`
      : "";
  return `${percent(probability)} probable${spread}`;
}

/** Relevant documents found, estimated to be left, and the interval. */
export function stoppingGauge({ found, left, low, high }) {
  const whole = Math.max(found + high, 1);
  return h(
    "div",
    {
      class: "gauge",
      "aria-hidden": "true",
      vars: {
        found: found / whole,
        left: (found + left) / whole,
        low: (found + low) / whole,
        high: (found + high) / whole,
      },
    },
    h("span", { class: "left" }),
    h("span", { class: "found" }),
    h("span", { class: "whisker" }),
  );
}

/** Words with a bar for each weight; the longest bar is the strongest word's. */
export function weightBar(weight, strongest) {
  return h("span", {
    class: `weight-bar ${weight >= 0 ? "for" : "against"}`,
    "aria-hidden": "true",
    vars: { share: share(Math.abs(weight), strongest) },
  });
}
