// Classifies and explains texts with a model of bayesift, without Python. `bayesift export` writes the model into this
// file, which loads nothing. In a page it is `scorer`, in node `require("./scorer.js")`, or on the command line:
//
//     node scorer.js < text.txt              one text
//     node scorer.js --lines < texts.jsonl   a text per line: a JSON string, or an object with "text" and columns
"use strict";

(() => {
  const MODEL = /** @type {any} */ (null);

  // Kinds of characters, as in `bayesift.text.scripts`.
  const SEPARATOR = 0;
  const WORD = 1;
  const COMPLEX = 3;
  const MARK = 4;
  const JOINER = 5;
  const LONGEST = [0, 1, 2, 3]; // n-grams of each kind of script
  // What a character is to the final sigma.
  const CASED = 1;
  const IGNORABLE = 2;

  const N_CODE_POINTS = 0x110000;
  const MOST_EXPLAINED = 5; // assigned categories
  const LARGEST_LOG_ODDS = 30;
  const LEAST_ODDS = 1e-6;

  /** The numbers of a base64 string. */
  function numbers(text, Kind) {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return new Kind(bytes.buffer);
  }

  /** A value for every code point, from runs: [length, value, length, value, ...]. */
  function ofCodePoints(runs) {
    const values = new Uint8Array(N_CODE_POINTS);
    let point = 0;
    for (let i = 0; i < runs.length; i += 2) {
      values.fill(runs[i + 1], point, point + runs[i]);
      point += runs[i];
    }
    return values;
  }

  const characterTable = MODEL.characters;
  const spaces = ofCodePoints(characterTable.spaces);
  const wordCharacters = ofCodePoints(characterTable.words);
  const cases = ofCodePoints(characterTable.cases);
  const lowered = new Map(Object.entries(characterTable.lowered));

  const has = (table, character) => table[character.codePointAt(0)];

  // Texts -> terms

  /** Lower-case as Python does; an engine may know another version of Unicode. */
  function lowerCase(text) {
    const characters = Array.from(text);
    return characters
      .map((character, i) => {
        if (character === "Σ") return isFinal(characters, i) ? "ς" : "σ";
        return lowered.get(character) ?? character;
      })
      .join("");
  }

  /** Whether a sigma is the last letter of its word. */
  function isFinal(characters, at) {
    const nextCase = step => {
      let i = at + step;
      while (i in characters && has(cases, characters[i]) === IGNORABLE) i += step;
      return i in characters ? has(cases, characters[i]) : 0;
    };
    return nextCase(-1) === CASED && nextCase(1) !== CASED;
  }

  /** The characters of a text and their kinds; short words became separators. */
  function folded(text, options) {
    const characters = [];
    const kindOf = [];
    let last = SEPARATOR;
    let begin = 0;
    const endWord = () => {
      if (last === WORD && characters.length - begin < options.min_length) {
        kindOf.fill(SEPARATOR, begin);
      }
    };
    for (const character of options.lowercase ? lowerCase(text) : text) {
      let kind = has(options.kinds, character);
      if (kind === JOINER) {
        if (last > WORD) continue; // left out, so that n-grams go across it
        kind = SEPARATOR;
      }
      if (kind !== WORD) endWord();
      else if (last !== WORD) begin = characters.length;
      characters.push(character);
      kindOf.push(kind);
      last = kind;
    }
    endWord();
    return { characters, kindOf };
  }

  /** Words, and n-grams of scripts without spaces. */
  function wordsOf(text, options) {
    const { characters, kindOf } = folded(text, options);
    const words = [];
    let units = []; // characters with their marks
    let run = SEPARATOR;
    let i = 0;
    while (i < characters.length) {
      let kind = kindOf[i];
      if (kind === SEPARATOR) {
        units = [];
        i++;
        continue;
      }
      const following = kind === WORD ? WORD : MARK;
      let unit = characters[i++];
      while (kindOf[i] === following) unit += characters[i++];
      if (kind === MARK) kind = COMPLEX;
      if (kind !== run || kind === WORD) units = [];
      run = kind;
      units.push(unit);
      for (let length = 1; length <= Math.min(units.length, LONGEST[kind]); length++) {
        words.push(units.slice(-length).join(""));
      }
    }
    return words;
  }

  /** Words and n-grams of words; n-grams of scripts without spaces stay alone. */
  function wordTerms(text, options) {
    const words = wordsOf(text, options).filter(word => !options.stopWords.has(word));
    const [shortest, longest] = options.ngram_range;
    const areAlone = words.map(word => has(options.kinds, word) > WORD);
    const terms = [];
    words.forEach((word, i) => {
      let term = word;
      if (shortest === 1 || areAlone[i]) terms.push(term);
      for (let length = 2; length <= longest && i + length <= words.length; length++) {
        if (areAlone[i] || areAlone[i + length - 1]) break;
        term += ` ${words[i + length - 1]}`;
        if (length >= shortest) terms.push(term);
      }
    });
    return terms;
  }

  /** The parts of a text between white space, as `str.split` of Python finds them. */
  function chunksOf(text) {
    const chunks = [];
    let chunk = "";
    for (const character of text) {
      if (!has(spaces, character)) {
        chunk += character;
      } else if (chunk) {
        chunks.push(chunk);
        chunk = "";
      }
    }
    return chunk ? [...chunks, chunk] : chunks;
  }

  /** A text with one blank for each run of several white spaces. */
  function withoutRuns(text) {
    let result = "";
    let run = [];
    for (const character of [...text, ""]) {
      if (character && has(spaces, character)) {
        run.push(character);
        continue;
      }
      result += (run.length > 1 ? " " : run.join("")) + character;
      run = [];
    }
    return result;
  }

  /** N-grams of characters, of the text or within words and the blanks around them. */
  function characterTerms(text, options) {
    const [shortest, longest] = options.ngram_range;
    const whole = (options.lowercase ? lowerCase(text) : text).toWellFormed();
    const isByWord = options.analyzer === "char_wb";
    const parts = isByWord ? chunksOf(whole).map(chunk => ` ${chunk} `) : [withoutRuns(whole)];
    const terms = [];
    for (const part of parts) {
      const characters = Array.from(part);
      if (isByWord && characters.length < shortest) terms.push(part);
      for (let begin = 0; begin < characters.length; begin++) {
        let term = characters.slice(begin, begin + shortest - 1).join("");
        for (let end = begin + shortest; end <= characters.length; end++) {
          if (end - begin > longest) break;
          term += characters[end - 1];
          terms.push(term);
        }
      }
    }
    return terms;
  }

  function countsOf(terms) {
    const counts = new Map();
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    return counts;
  }

  // Terms -> weighted columns

  const LOCAL = {
    binary: () => 1,
    tf: count => count,
    "log-tf": count => 1 + Math.log(count),
    "tf-idf": count => count,
    "sublinear-tf-idf": count => 1 + Math.log(count),
    ltc: count => 1 + Math.log2(count),
  };
  const GLOBAL = {
    "tf-idf": Math.log,
    "sublinear-tf-idf": rarity => Math.log(rarity) + 1,
    ltc: Math.log2,
  };

  /** Columns of terms: the vocabulary of a vectorizer, and the weights of the model for it. */
  class Terms {
    constructor(content) {
      this.options = {
        ...content.options,
        kinds: ofCodePoints(content.options.kinds),
        stopWords: new Set(content.options.stop_words),
      };
      this.names = wholeNames(content.terms);
      this.columns = new Map(this.names.map((name, column) => [name, column]));
      this.nKnown = content.n_known; // columns behind these are only part of the length
      this.weights = new Weights(content.weights);
      const global = GLOBAL[this.options.weighting];
      this.rarities = content.document_frequencies.map(frequency =>
        global ? global(content.n_documents / Math.max(frequency, 1)) : 1,
      );
    }

    counts(text) {
      const find = this.options.analyzer === "word" ? wordTerms : characterTerms;
      return countsOf(find(text, this.options));
    }

    /** Entries [column, value] of a text, by column. */
    entries(counts) {
      const local = LOCAL[this.options.weighting];
      const entries = [];
      const squares = []; // by block of terms that has a length of its own
      const blockOf = column =>
        this.options.separate_ngrams ? this.names[column].split(" ").length : 0;
      for (const [term, count] of counts) {
        const column = this.columns.get(term);
        const value = column === undefined ? 0 : local(count) * this.rarities[column];
        if (value === 0) continue;
        const block = blockOf(column);
        squares[block] = (squares[block] ?? 0) + value * value;
        entries.push([column, value]);
      }
      if (this.options.has_length_one) {
        for (const entry of entries) entry[1] /= Math.sqrt(squares[blockOf(entry[0])]);
      }
      return entries
        .filter(([column]) => column < this.nKnown)
        .sort(([one], [other]) => one - other);
    }
  }

  /** Names of which each was written as what it shares with the one before, and the rest. */
  function wholeNames(written) {
    let before = [];
    return written.map(text => {
      const shared = text.charCodeAt(0) - 33;
      before = [...before.slice(0, shared), ...text.slice(1)];
      return before.join("");
    });
  }

  /** Weights of columns, of every row (category) or of some. */
  class Weights {
    constructor({ n_rows: nRows, counts, rows, values, exact }) {
      this.values = numbers(values, exact ? Float64Array : Float32Array);
      this.rows = rows === null ? null : numbers(rows, Uint32Array);
      this.nRows = nRows;
      this.starts = [0];
      for (const count of counts ?? []) this.starts.push(this.starts.at(-1) + count);
    }

    /** Add the weights of a column, times its value, to the scores of rows. */
    addTo(scores, column, value) {
      if (this.rows === null) {
        const begin = column * this.nRows;
        for (let row = 0; row < this.nRows; row++) scores[row] += value * this.values[begin + row];
        return;
      }
      for (let i = this.starts[column]; i < this.starts[column + 1]; i++) {
        scores[this.rows[i]] += value * this.values[i];
      }
    }

    at(column, row) {
      if (this.rows === null) return this.values[column * this.nRows + row];
      const begin = this.starts[column];
      const found = this.rows.subarray(begin, this.starts[column + 1]).indexOf(row);
      return found < 0 ? 0 : this.values[begin + found];
    }
  }

  // Columns of a table

  const NUMBER = /^[-+]?(0|[1-9]\d*)(\.\d+|,\d{1,2}|,\d{4,})?([eE][-+]?\d+)?$/;

  const isMissing = value => value === null || value === undefined || Number.isNaN(value);

  function numberOf(value, name) {
    const isNumber = typeof value === "string" ? NUMBER.test(value) : Number.isFinite(value);
    if (!isNumber) {
      throw new Error(`${JSON.stringify(value)} in the column ${name} is not a number`);
    }
    return Number(String(value).replace(",", "."));
  }

  /** The values of the columns that one column of a table becomes. */
  function valuesOf(column, value) {
    if (column.values) return column.values.map(known => Number(known === String(value ?? "")));
    const centred = isMissing(value) ? 0 : numberOf(value, column.name) - column.mean;
    const values = [centred / column.deviation];
    if (column.may_miss) values.push(Number(isMissing(value)));
    return values;
  }

  class Table {
    constructor(content) {
      this.columns = content.columns;
      this.names = content.names;
      this.weights = new Weights(content.weights);
    }

    entries(given) {
      const values = this.columns.flatMap(column => {
        if (!(column.name in given)) throw new Error(`no column ${JSON.stringify(column.name)}`);
        return valuesOf(column, given[column.name]);
      });
      const length = Math.sqrt(this.columns.length);
      return values
        .map((value, column) => [column, value / length])
        .filter(([, value]) => value !== 0);
    }
  }

  // Columns -> scores -> probabilities -> decisions

  const words = new Terms(MODEL.words);
  const spelling = MODEL.spelling && new Terms(MODEL.spelling);
  const table = MODEL.table && new Table(MODEL.table);
  const intercepts = numbers(MODEL.intercepts, Float64Array);
  const thresholds = numbers(MODEL.thresholds, Float64Array);
  const isBinary = !MODEL.multilabel && MODEL.categories.length === 2 && intercepts.length === 1;

  /** Blocks of a text: the columns they belong to, and their entries. */
  function blocksOf(text, columns) {
    const wordCounts = words.counts(text);
    /** @type {{part: Terms | Table, entries: number[][]}[]} */
    const blocks = [{ part: words, entries: words.entries(wordCounts) }];
    if (spelling) {
      blocks.push({ part: spelling, entries: spelling.entries(spelling.counts(text)) });
    }
    if (table) blocks.push({ part: table, entries: table.entries(columns) });
    return { wordCounts, blocks };
  }

  function linearScores(blocks) {
    const scores = Array.from(intercepts);
    for (const { part, entries } of blocks) {
      for (const [column, value] of entries) part.weights.addTo(scores, column, value);
    }
    if (!MODEL.is_bayes) return scores;
    // What is impossible in every category gets the prior.
    if (MODEL.multilabel) return scores.map((s, row) => (Number.isNaN(s) ? intercepts[row] : s));
    return scores.every(score => score === -Infinity) ? Array.from(intercepts) : scores;
  }

  /** Log odds corrected by `BetaCalibration`. */
  function calibrated(scores) {
    if (!MODEL.calibration) return scores;
    const { positive, negative, others, offset } = MODEL.calibration;
    const bounded = scores.map(z => Math.min(Math.max(z, -LARGEST_LOG_ODDS), LARGEST_LOG_ODDS));
    const total = bounded.reduce((sum, z) => sum + Math.exp(z), 0);
    return bounded.map(z => {
      const rest = scores.length > 1 ? Math.max(total - Math.exp(z), LEAST_ODDS) : 1;
      return positive * -softplus(-z) + negative * softplus(z) - others * Math.log(rest) + offset;
    });
  }

  const softplus = z => Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z)));

  /** The logarithm of the standard normal distribution function. */
  function logNormal(z) {
    if (z > 0) return Math.log1p(-Math.exp(logNormal(-z)));
    const logDensity = -0.5 * z * z - 0.5 * Math.log(2 * Math.PI);
    if (z > -3) {
      let term = z;
      let sum = z;
      for (let n = 1; Math.abs(term) > 1e-17; n++) sum += term *= (z * z) / (2 * n + 1);
      return Math.log(0.5 + sum * Math.exp(logDensity));
    }
    let fraction = -z;
    for (let n = 200; n > 0; n--) fraction = -z + n / fraction; // of Laplace
    return logDensity - Math.log(fraction);
  }

  const LOG_LIKELIHOOD = { logit: z => -softplus(-z), probit: logNormal, softmax: z => z };

  /** Probabilities of scores; the scores themselves for a model without. */
  function probabilitiesOf(scores) {
    if (MODEL.link === null) return isBinary ? [-scores[0], scores[0]] : scores;
    const sided = isBinary ? [-scores[0], scores[0]] : scores;
    const logarithms = sided.map(LOG_LIKELIHOOD[MODEL.link]);
    if (MODEL.multilabel || isBinary) return logarithms.map(Math.exp);
    const largest = Math.max(...logarithms);
    const shares = logarithms.map(logarithm => Math.exp(logarithm - largest));
    const total = shares.reduce((sum, share) => sum + share, 0);
    return shares.map(share => share / total);
  }

  /** Which categories are assigned. */
  function decisionsOf(scores) {
    if (MODEL.multilabel) return scores.map((score, i) => score > thresholds[i]);
    let chosen = 0;
    if (scores.length === 2) {
      chosen = Number(scores[1] > thresholds[0]);
    } else {
      const margins = scores.map((score, i) => score - thresholds[i]);
      chosen = margins.indexOf(Math.max(...margins));
    }
    return scores.map((_, i) => i === chosen);
  }

  /** Scores of a text, and what they were made of. */
  function scored(text, columns) {
    const { wordCounts, blocks } = blocksOf(text, columns);
    const raw = linearScores(blocks);
    const corrected = calibrated(raw);
    const scores = probabilitiesOf(corrected);
    return { wordCounts, blocks, raw, corrected, scores, decisions: decisionsOf(scores) };
  }

  // Reasons

  /** The function from a column's weights to what it adds to a category, and the prior. */
  function formOf(category, raw) {
    if (isBinary) {
      const sign = 2 * category - 1;
      return {
        add: (weights, column) => sign * weights.at(column, 0),
        prior: sign * intercepts[0],
      };
    }
    if (!MODEL.is_bayes || MODEL.multilabel) {
      return {
        add: (weights, column) => weights.at(column, category),
        prior: intercepts[category],
      };
    }
    // Against the most probable other class.
    const others = raw.map((score, i) => (i === category ? -Infinity : score));
    let rival = others.indexOf(Math.max(...others));
    if (rival === category) rival = (category + 1) % others.length;
    return {
      add: (weights, column) => difference(weights.at(column, category), weights.at(column, rival)),
      prior: intercepts[category] - intercepts[rival],
    };
  }

  const difference = (left, right) => (left === right ? 0 : left - right);

  /** What the n-grams of characters of each word add, and what those across words add. */
  function spellingParts(text, entries, addOf) {
    const isByWord = spelling.options.analyzer === "char_wb";
    const perCount = new Map();
    const whole = spelling.counts(text);
    let rest = 0;
    for (const [column, value] of entries) {
      const added = value * addOf(column);
      if (isByWord) perCount.set(spelling.names[column], added / whole.get(spelling.names[column]));
      else rest += added;
    }
    const parts = new Map();
    for (const chunk of isByWord ? chunksOf(text) : []) {
      let sum = parts.get(wordIn(chunk)) ?? 0;
      for (const [term, count] of spelling.counts(chunk)) sum += count * (perCount.get(term) ?? 0);
      parts.set(wordIn(chunk), sum);
    }
    return { parts, rest };
  }

  /** A part of a text in lower case without the punctuation around it. */
  function wordIn(chunk) {
    const characters = Array.from(lowerCase(chunk));
    const isWord = character => has(wordCharacters, character) === 1;
    const first = characters.findIndex(isWord);
    if (first < 0) return chunk;
    return characters.slice(first, characters.findLastIndex(isWord) + 1).join("");
  }

  function explainCategory(text, found, category, top) {
    const { add, prior } = formOf(category, found.raw);
    const terms = [];
    let parts = new Map();
    let before = prior;
    let sum = 0;
    for (const { part, entries } of found.blocks) {
      const addOf = column => add(part.weights, column);
      for (const [column, value] of entries) {
        const contribution = value * addOf(column);
        sum += contribution;
        if (part !== spelling) {
          terms.push({ term: part.names[column], weight: value, contribution });
        }
      }
      if (part === spelling) {
        const spelled = spellingParts(text, entries, addOf);
        parts = spelled.parts;
        before += spelled.rest;
      }
    }
    if (MODEL.calibration) before += found.corrected[category] - sum - prior;
    for (const term of terms) {
      if (!parts.has(term.term)) continue;
      term.spelling = parts.get(term.term);
      term.contribution += term.spelling;
      parts.delete(term.term);
    }
    for (const [term, value] of parts) {
      if (value) terms.push({ term, weight: 0, contribution: value, spelling: value });
    }
    terms.sort((one, other) => Math.abs(other.contribution) - Math.abs(one.contribution));
    return {
      category: MODEL.categories[category],
      score: found.scores[category],
      threshold: MODEL.multilabel ? thresholds[category] : null,
      assigned: found.decisions[category],
      prior: before,
      terms: terms.slice(0, top),
    };
  }

  /** The most probable assigned categories, and the most probable one. */
  function explainedByDefault({ scores, decisions }) {
    const byScore = scores.map((_, i) => i).sort((one, other) => scores[other] - scores[one]);
    const assigned = byScore.filter(i => decisions[i]).slice(0, MOST_EXPLAINED);
    return new Set([byScore[0], ...assigned]);
  }

  /** Reasons for categories of a text, in the words of `bayesift explain --json`. */
  function explain(text, { columns = {}, categories = null, top = 10 } = {}) {
    const found = scored(text, columns);
    const named = categories?.map(name => {
      if (!MODEL.categories.includes(name)) throw new Error(`no category ${JSON.stringify(name)}`);
      return MODEL.categories.indexOf(name);
    });
    const chosen = [...(named ?? explainedByDefault(found))];
    chosen.sort((one, other) => found.scores[other] - found.scores[one]);
    let known = 0;
    let unseen = 0;
    const unseenTerms = [];
    for (const [term, count] of found.wordCounts) {
      if (words.columns.get(term) < words.nKnown) {
        known += count;
      } else {
        unseen += count;
        unseenTerms.push(term);
      }
    }
    return {
      categories: chosen.map(category => explainCategory(text, found, category, top)),
      known,
      unseen,
      unseen_terms: unseenTerms,
      unseen_share: unseen / Math.max(1, known + unseen),
    };
  }

  /** The categories given to a text, and the score of each: its probability, if the model has them. */
  function classify(text, columns = {}) {
    const { scores, decisions } = scored(text, columns);
    return {
      categories: MODEL.categories.filter((_, i) => decisions[i]),
      scores: Object.fromEntries(MODEL.categories.map((name, i) => [name, scores[i]])),
    };
  }

  const kindOf = character => has(words.options.kinds, character);

  const scorer = {
    name: MODEL.name,
    version: MODEL.version,
    quality: MODEL.quality,
    categories: MODEL.categories,
    multilabel: MODEL.multilabel,
    hasProbabilities: MODEL.link !== null,
    columns: table ? table.columns : [],
    classify,
    explain,
    terms: text => words.counts(text),
    spelling: text => spelling?.counts(text) ?? new Map(),
    lowerCase,
    isWord: character => kindOf(character) === WORD,
    isUnspaced: character => kindOf(character) > WORD && kindOf(character) !== JOINER,
  };
  Object.assign(globalThis, { scorer });

  // In node

  if (typeof module === "undefined" || typeof require === "undefined") return;
  module.exports = scorer;
  if (require.main !== module) return;
  const given = require("node:fs").readFileSync(0, "utf8");
  if (!process.argv.includes("--lines")) {
    console.log(JSON.stringify({ ...classify(given), reasons: explain(given) }, null, 2));
    return;
  }
  for (const line of given.split("\n").filter(Boolean)) {
    const read = JSON.parse(line);
    const { text, ...columns } = typeof read === "string" ? { text: read } : read;
    console.log(JSON.stringify(classify(text, columns)));
  }
})();
