// Documents from files: JSON lines, CSV and plain text, read in chunks so that large files fit in memory.

const ID_FIELDS = ["id", "docid", "document", "pmid"];
const TITLE_FIELDS = ["title", "subject", "headline"];
const TEXT_FIELDS = ["text", "abstract", "body", "content", "message"];

/** Documents of a file, in order: {document} or {line, rejected: sentence}. */
export async function* documentsOf(file) {
  const name = file.name.toLowerCase();
  const pieces = textPieces(file);
  if (/\.(jsonl|ndjson)$/.test(name)) yield* jsonLines(pieces);
  else if (/\.(csv|tsv)$/.test(name)) yield* tableRows(pieces, name.endsWith(".tsv") ? "\t" : ",");
  else if (/\.(txt|text|md)$/.test(name)) yield { document: documentOf({ title: file.name, text: await file.text() }) };
  else throw new Error("The file must be .jsonl, .csv, .tsv or .txt.");
}

/** A document with an id: the given one or a hash of its content, so that adding it twice changes nothing. */
export function documentOf({ id, title, text }) {
  const given = id === undefined || id === null ? "" : String(id).trim();
  const document = { id: given || `text-${fingerprint(`${title ?? ""}\n${text}`)}`, text };
  return title ? { ...document, title } : document;
}

async function* textPieces(file) {
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
}

async function* lines(pieces) {
  let rest = "";
  for await (const piece of pieces) {
    const parts = (rest + piece).split("\n");
    rest = parts.pop();
    yield* parts;
  }
  yield rest;
}

async function* jsonLines(pieces) {
  let line = 0;
  for await (const text of lines(pieces)) {
    line += 1;
    if (!text.trim()) continue;
    let record;
    try { record = JSON.parse(text); } catch { yield { line, rejected: "is not JSON" }; continue; }
    yield fromRecord(record, line);
  }
}

function fromRecord(record, line) {
  if (typeof record !== "object" || record === null || Array.isArray(record)) return { line, rejected: "is not an object" };
  const pick = fields => fields.map(field => record[field]).find(value => value !== undefined && value !== null && value !== "");
  const [id, title, text] = [ID_FIELDS, TITLE_FIELDS, TEXT_FIELDS].map(pick);
  if (text === undefined && title === undefined) return { line, rejected: `has none of ${TEXT_FIELDS.join(", ")}` };
  return { document: documentOf({ id, title: title === undefined ? undefined : String(title), text: String(text ?? "") }) };
}

async function* tableRows(pieces, separator) {
  let names = null;
  for await (const { line, cells } of csvRows(pieces, separator)) {
    if (names === null) {
      names = cells.map(cell => cell.trim().toLowerCase());
      const known = names.some(name => TEXT_FIELDS.includes(name) || TITLE_FIELDS.includes(name));
      if (!known) throw new Error(`The first line must name the columns; one must be called ${TEXT_FIELDS.join(", ")}.`);
    } else if (cells.length !== names.length) yield { line, rejected: `has ${cells.length} columns instead of ${names.length}` };
    else yield fromRecord(Object.fromEntries(names.map((name, index) => [name, cells[index]])), line);
  }
}

/** Rows of a CSV file (RFC 4180: quoted cells may hold separators, doubled quotes and line breaks); empty lines are left out. */
export async function* csvRows(pieces, separator = ",") {
  let cells = [], cell = "", quoted = false, closing = false, line = 1, start = 1;
  const endRow = () => { const row = { line: start, cells: [...cells, cell] }; cells = []; cell = ""; start = line; return row; };
  for await (const piece of pieces) {
    for (const letter of piece) {
      if (letter === "\n") line += 1;
      if (quoted && !closing) {
        if (letter === '"') closing = true;
        else cell += letter;
        continue;
      }
      if (closing && letter === '"') { cell += '"'; closing = false; continue; }
      if (closing) { quoted = false; closing = false; }
      if (letter === '"' && cell === "") quoted = true;
      else if (letter === separator) { cells.push(cell); cell = ""; }
      else if (letter === "\n") {
        if (cell.endsWith("\r")) cell = cell.slice(0, -1);
        const row = endRow();
        if (row.cells.length > 1 || row.cells[0] !== "") yield row;
      } else cell += letter;
    }
  }
  if (cells.length || cell !== "") yield endRow();
}

const PRIME = 2147483647;
const BASES = [1048583, 1299709, 1500007, 1800017]; // below 2^21, so that every product is exact in a double

/** A polynomial hash of a text in four bases modulo a prime, 124 bits. */
export function fingerprint(text) {
  const lanes = BASES.map(() => 1);
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    for (let lane = 0; lane < lanes.length; lane += 1) lanes[lane] = (lanes[lane] * BASES[lane] + code) % PRIME;
  }
  return lanes.map(lane => lane.toString(36).padStart(6, "0")).join("");
}
