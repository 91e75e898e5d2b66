// Documents from files: JSON lines are read here in chunks, so that large files fit in memory, all else by the server.

const ID_FIELDS = ["id", "docid", "document", "pmid"];
const TITLE_FIELDS = ["title", "subject", "headline"];
const TEXT_FIELDS = ["text", "abstract", "body", "content", "message"];

/** Documents of a file, in order: {document} or {line, rejected: sentence}. The server reads all but JSON lines, in any encoding. */
export async function* documentsOf(file, read) {
  if (/\.(jsonl|ndjson)$/i.test(file.name)) {
    yield* withSource(jsonLines(textPieces(file)), file.name);
  } else {
    const { documents, rejected } = await read(file);
    for (const sentence of rejected) yield { rejected: sentence };
    for (const document of documents) {
      yield { document: { ...document, source: sourceOf(file.name) } };
    }
  }
}

/** Ids of two files may be the same: each document names its source. */
async function* withSource(found, name) {
  for await (const one of found) {
    yield one.document ? { document: { ...one.document, source: sourceOf(name) } } : one;
  }
}

const sourceOf = name =>
  [...name]
    .filter(letter => /[^\p{C}]/u.test(letter))
    .join("")
    .slice(0, 100);

/** A document with an id: the given one or a hash of its content, so that adding it twice changes nothing. */
export function documentOf({ id = undefined, title, text }) {
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
    try {
      record = JSON.parse(text);
    } catch {
      yield { line, rejected: "is not JSON" };
      continue;
    }
    yield fromRecord(record, line);
  }
}

function fromRecord(record, line) {
  if (typeof record !== "object" || record === null || Array.isArray(record)) {
    return { line, rejected: "is not an object" };
  }
  const pick = fields =>
    fields
      .map(field => record[field])
      .find(value => value !== undefined && value !== null && value !== "");
  const [id, title, text] = [ID_FIELDS, TITLE_FIELDS, TEXT_FIELDS].map(pick);
  if (text === undefined && title === undefined) {
    return { line, rejected: `has none of ${TEXT_FIELDS.join(", ")}` };
  }
  return {
    document: documentOf({
      id,
      title: title === undefined ? undefined : String(title),
      text: String(text ?? ""),
    }),
  };
}

const PRIME = 2147483647;
const BASES = [1048583, 1299709, 1500007, 1800017]; // below 2^21, so that every product is exact in a double

/** A polynomial hash of a text in four bases modulo a prime, 124 bits. */
export function fingerprint(text) {
  const lanes = BASES.map(() => 1);
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    for (let lane = 0; lane < lanes.length; lane += 1) {
      lanes[lane] = (lanes[lane] * BASES[lane] + code) % PRIME;
    }
  }
  return lanes.map(lane => lane.toString(36).padStart(6, "0")).join("");
}
