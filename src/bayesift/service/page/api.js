// The HTTP API as functions. Every failure is a Problem with a message to show.

import { observable } from "./observable.js";

/** The signed-in user; the value is null when no one is signed in. */
export const session = observable(/** @type {Api.SessionOut | null} */ (null));

/** Whether the server answered the last request. */
export const reachable = observable(true);

const TIMEOUT = 60_000;
const RANK = { reader: 0, reviewer: 1, admin: 2, owner: 2 };

/**
 * Whether the role of the user is enough: that in a filter or review, or that in the service.
 * @param {string} role
 * @param {{role: string} | null} of
 */
export const mayDo = (role, of = session.value) => of !== null && RANK[of.role] >= RANK[role];

export class Problem extends Error {
  constructor(status, detail, retryAfter = null) {
    super(detail);
    this.status = status;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later. */
  get passing() {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

const SENTENCES = {
  0: "The server does not answer.",
  401: "You are signed out.",
  403: "Your role does not allow this.",
  404: "This does not exist (any more).",
  413: "This is larger than the server accepts.",
  429: "The server is busy.",
};

/**
 * Send a request and return its answer.
 * @param {string} method
 * @param {string} path
 * @param {{body?: any, signal?: AbortSignal, type?: string, again?: boolean}} [options]
 * @returns {Promise<any>}
 */
async function request(method, path, { body, signal, type, again = false } = {}) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = type ?? "application/json";
  if (method !== "GET" && session.value) headers["X-CSRF-Token"] = session.value.csrf;
  const content = body === undefined || type ? body : JSON.stringify(body);
  const limits = [AbortSignal.timeout(TIMEOUT), ...(signal ? [signal] : [])];
  let response;
  try {
    response = await fetch(`api/${path}`, {
      method,
      headers,
      body: content,
      signal: AbortSignal.any(limits),
      credentials: "same-origin",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    reachable.set(false);
    throw new Problem(0, SENTENCES[0]);
  }
  reachable.set(true);
  if (response.ok) return answer(response);
  const problem = await problemOf(response);
  if (problem.status === 403 && method !== "GET" && !again && (await sessionRenewed())) {
    return request(method, path, { body, signal, type, again: true });
  }
  if (problem.status === 401) session.set(null);
  throw problem;
}

/** Whether the user signed in again on another page of this browser, so that the CSRF token of this one is stale. */
async function sessionRenewed() {
  const before = session.value;
  const current = await get("session");
  if (!before || current.csrf === before.csrf) return false;
  session.set(current);
  if (current.user !== before.user) {
    throw new Problem(401, "Another user signed in on another page of this browser.");
  }
  return true;
}

/** Check whether the server answers, and update `reachable`. */
export async function ping() {
  try {
    reachable.set(
      (await fetch("healthz", { signal: AbortSignal.timeout(5000), cache: "no-store" })).ok,
    );
  } catch {
    reachable.set(false);
  }
}

async function answer(response) {
  const text = await response.text();
  return text ? JSON.parse(text) : null;
}

async function problemOf(response) {
  let detail = null;
  try {
    const body = await response.json();
    detail = typeof body.detail === "string" ? body.detail : body.title;
  } catch {
    /* an error page of a proxy */
  }
  const wait = Number(response.headers.get("Retry-After"));
  const sentence =
    detail || SENTENCES[response.status] || `The server answered with error ${response.status}.`;
  return new Problem(response.status, sentence, wait > 0 ? wait : null);
}

const part = encodeURIComponent;
const of = name => `filters/${part(name)}`;
const model = name => `models/${part(name)}`;
const get = (path, signal = undefined) => request("GET", path, { signal });
const post = (path, body = undefined) => request("POST", path, { body });

export const api = {
  signIn: async token => session.set(await post("session", { token })),
  /** @returns {Promise<Api.FirstStartOut>} */
  firstStart: () => get("session/first"),
  /** @returns {Promise<Api.NewUserOut>} */
  setUp: name => post("session/first", { name }),
  resume: async () => session.set(await get("session")),
  signOut: async () => {
    await request("DELETE", "session");
    session.set(null);
  },

  /** @returns {Promise<Api.UserOut[]>} */
  users: signal => get("users", signal),
  /** @returns {Promise<Api.NewUserOut>} */
  addUser: (name, role) => post("users", { name, role }),
  removeUser: name => request("DELETE", `users/${part(name)}`),

  // `base` is filters/NAME or reviews/ID
  /** @returns {Promise<Api.MemberOut[]>} */
  members: (base, signal) => get(`${base}/members`, signal),
  setMember: (base, user, role) =>
    request("PUT", `${base}/members/${part(user)}`, { body: { role } }),
  removeMember: (base, user) => request("DELETE", `${base}/members/${part(user)}`),
  /** @returns {Promise<Api.InvitationOut[]>} */
  invitations: (base, signal) => get(`${base}/invitations`, signal),
  /** @returns {Promise<Api.NewInvitationOut>} */
  invite: (base, role) => post(`${base}/invitations`, { role }),
  removeInvitation: (base, id) => request("DELETE", `${base}/invitations/${id}`),
  /** @returns {Promise<Api.AcceptedOut>} */
  accept: (token, name) => post("invitations", { token, name }),

  /** @returns {Promise<Api.FilterOut[]>} */
  filters: signal => get("filters", signal),
  /** @returns {Promise<Api.FilterOut>} */
  filter: (name, signal) => get(of(name), signal),
  /** @returns {Promise<Api.FilterOut>} */
  addFilter: definition => post("filters", definition),
  /** @returns {Promise<Api.FilterOut>} */
  pause: (name, paused) => request("PATCH", of(name), { body: { paused } }),
  removeFilter: name => request("DELETE", of(name)),
  /** @returns {Promise<Api.FilterOut>} */
  importFilter: (file, name) =>
    request("POST", `filters/import${name ? `?name=${part(name)}` : ""}`, {
      body: file,
      type: "application/octet-stream",
    }),

  /** @returns {Promise<Api.ExplanationOut[]>} */
  queue: (name, limit, signal) => get(`${of(name)}/queue?limit=${limit}`, signal),
  /** @returns {Promise<Api.ExplanationOut>} */
  explanation: (name, id, signal) => get(`${of(name)}/documents/${part(id)}`, signal),
  /** @returns {Promise<Api.JudgementOut>} */
  judge: (name, id, relevant) => post(`${of(name)}/judgements`, { document: id, relevant }),
  /** @returns {Promise<Api.UndoneOut>} */
  takeBack: (name, id) => request("DELETE", `${of(name)}/judgements/${part(id)}`),
  /** @returns {Promise<Api.JudgedOut[]>} */
  judgements: (name, limit, signal) => get(`${of(name)}/judgements?limit=${limit}`, signal),
  /** @returns {Promise<Api.ConflictOut[]>} */
  conflicts: (name, signal) => get(`${of(name)}/conflicts`, signal),

  /** @returns {Promise<Api.TaughtOut[]>} */
  words: (name, signal) => get(`${of(name)}/words`, signal),
  /** @returns {Promise<Api.TaughtOut>} */
  teach: (name, word, strength) => post(`${of(name)}/words`, { word, strength }),
  /** @returns {Promise<Api.TermsOut>} */
  terms: (name, limit, signal) => get(`${of(name)}/terms?limit=${limit}`, signal),
  /** @returns {Promise<Api.CurveOut>} */
  curve: (name, signal) => get(`${of(name)}/curve`, signal),
  /** @returns {Promise<Api.StoppingOut>} */
  stopping: (name, signal) => get(`${of(name)}/stopping?recall=0.95`, signal),
  /** @returns {Promise<Api.TopicOut[]>} */
  topics: (name, signal) => get(`${of(name)}/topics?n=8`, signal),

  /** @returns {Promise<Api.ReviewRowOut[]>} */
  reviews: signal => get("reviews", signal),
  /** @returns {Promise<Api.ReviewRowOut[]>} */
  deletedReviews: signal => get("reviews?deleted=true", signal),
  /** @returns {Promise<Api.ReviewOut>} */
  restoreReview: id => post(`reviews/${id}/restore`),
  /** @returns {Promise<Api.ReviewOut>} */
  openProject: file =>
    request("POST", `reviews/project?name=${part(file.name)}`, {
      body: file,
      type: "application/octet-stream",
    }),
  /** @returns {Promise<Api.FileOut>} */
  upload: (file, signal) =>
    request("POST", `uploads?name=${part(file.name)}`, {
      body: file,
      type: "application/octet-stream",
      signal,
    }),
  /** @returns {Promise<Api.FileOut>} */
  chooseReview: (chosen, signal) => request("POST", "uploads/review", { body: chosen, signal }),
  /** @returns {Promise<Api.FileOut>} */
  chooseDocuments: (chosen, signal) =>
    request("POST", "uploads/documents", { body: chosen, signal }),
  /** @returns {Promise<Api.PreviewOut>} */
  previewUploads: (uploads, signal) =>
    request("POST", "uploads/preview", { body: { uploads }, signal }),
  /** @returns {Promise<Api.ReviewOut>} */
  beginReview: definition => post("reviews", definition),
  /** The reviews that this person is beginning, each with its step. */
  beginnings: signal => request("GET", "reviews/beginning", { signal }),
  /** @returns {Promise<Api.ReviewOut>} */
  review: (id, signal) => get(`reviews/${id}`, signal),
  /** @returns {Promise<Api.ReviewOut>} */
  changeReview: (id, changes) => request("PATCH", `reviews/${id}`, { body: changes }),
  deleteReview: id => request("DELETE", `reviews/${id}`),
  /** @returns {Promise<Api.NextOut>} */
  nextRecord: (id, stage, skipped, signal) =>
    get(
      `reviews/${id}/next?stage=${part(stage)}${skipped.map(record => `&skip=${record}`).join("")}`,
      signal,
    ),
  /** @returns {Promise<Api.RecordOut>} */
  decide: (id, decision) => post(`reviews/${id}/decisions`, decision),
  /** @returns {Promise<Api.RecordOut>} */
  undoDecision: id => post(`reviews/${id}/undo`),
  /** @returns {Promise<Api.RecordOut>} */
  resolve: (id, decision) => post(`reviews/${id}/resolutions`, decision),
  /** @returns {Promise<Api.RecordsOut>} */
  records: (id, query, signal) =>
    get(
      `reviews/${id}/records?${new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ""))}`,
      signal,
    ),
  /** @returns {Promise<Api.RecordOut>} */
  record: (id, record, signal, stage = "abstract") =>
    get(`reviews/${id}/records/${part(record)}?stage=${part(stage)}`, signal),
  /** @returns {Promise<Api.WordWeightOut[]>} */
  wordsOf: (id, record, signal) => get(`reviews/${id}/records/${record}/words`, signal),
  /** @returns {Promise<Api.RecordOut>} */
  note: (id, record, text) => post(`reviews/${id}/records/${record}/notes`, { text }),
  /** @returns {Promise<Api.RecordOut>} */
  setTags: (id, record, tags) =>
    request("PUT", `reviews/${id}/records/${record}/tags`, { body: { tags } }),
  /** @returns {Promise<Api.RecordOut>} */
  setFullText: (id, record, place) =>
    request("PUT", `reviews/${id}/records/${record}/full-text`, { body: { place } }),
  fullTextFile: (id, record) => `api/reviews/${id}/records/${record}/full-text.pdf`,
  /** @returns {Promise<Api.RecordOut>} */
  attachFullText: (id, record, file, replaces) =>
    request(
      "PUT",
      `reviews/${id}/records/${record}/full-text.pdf?name=${part(file.name)}${replaces && `&replaces=${replaces}`}`,
      { body: file, type: "application/octet-stream" },
    ),
  /** @returns {Promise<Api.RecordOut>} */
  detachFullText: (id, record, replaces) =>
    request("DELETE", `reviews/${id}/records/${record}/full-text.pdf?replaces=${replaces}`),
  /** @returns {Promise<Api.RecordOut>} */
  join: (id, record, records) => post(`reviews/${id}/records/${record}/join`, { records }),
  /** @returns {Promise<Api.RecordOut>} */
  split: (id, record) => post(`reviews/${id}/records/${record}/split`),
  /** @returns {Promise<Api.GaugeOut>} */
  gauge: (id, signal) => get(`reviews/${id}/gauge`, signal),
  /** @returns {Promise<Api.ProgressOut>} */
  progress: (id, signal) => get(`reviews/${id}/progress`, signal),
  /** @returns {Promise<Api.StatisticsOut>} */
  statistics: (id, signal) => get(`reviews/${id}/statistics`, signal),
  /** @returns {Promise<Api.HindsightOut>} */
  hindsight: (id, signal) => get(`reviews/${id}/hindsight`, signal),
  /** @returns {Promise<Api.ReviewOut>} */
  stopReview: (id, reason) => post(`reviews/${id}/stop`, { reason }),
  /** @returns {Promise<Api.ReviewOut>} */
  resumeReview: id => post(`reviews/${id}/resume`),
  reviewFile: (id, what) => `api/reviews/${id}/${what}`,

  /** @returns {Promise<Api.FileDocumentsOut>} */
  readDocuments: (file, signal) =>
    request("POST", `documents/read?name=${part(file.name)}`, {
      body: file,
      type: "application/octet-stream",
      signal,
    }),
  /** @returns {Promise<Api.ObservedOut>} */
  addDocuments: (documents, signal) =>
    request("POST", "documents/batch", { body: { documents }, signal }),
  /** @returns {Promise<Api.ModelOut[]>} */
  models: signal => get("models", signal),
  /** @returns {Promise<Api.ModelOut>} */
  model: (name, signal) => get(model(name), signal),
  /** @returns {Promise<Api.VersionOut[]>} */
  versions: (name, signal) => get(`${model(name)}/versions`, signal),
  /** @returns {Promise<Api.ModelOut>} */
  addModel: (name, file) =>
    request("POST", `models?name=${part(name)}`, {
      body: file,
      type: "application/octet-stream",
    }),
  /** @returns {Promise<Api.ModelOut>} */
  chooseVersion: (name, version) => request("PUT", `${model(name)}/version`, { body: { version } }),
  removeModel: name => request("DELETE", model(name)),
  /** @returns {Promise<Api.ClassifiedOut>} */
  classify: (name, row, signal) =>
    request("POST", `${model(name)}/classify`, { body: { texts: [row], top: 5 }, signal }),
  /** @returns {Promise<Api.ExplainedOut>} */
  explainText: (name, row, signal) =>
    request("POST", `${model(name)}/explain`, { body: { text: row }, signal }),
  /** @returns {Promise<Api.CorrectedOut>} */
  correct: (name, row, categories) => post(`${model(name)}/corrections`, { text: row, categories }),

  eventsOf: name => `api/${of(name)}/retrieved/events`,
  exportOf: (name, what) => `api/${of(name)}/export/${what}`,
};
