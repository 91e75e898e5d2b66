// The list a reviewer works through: documents judged or skipped, the current one, those ahead. No DOM, no server.

/** States of the judgement of an entry. */
export const NONE = "none",
  SAVING = "saving",
  SAVED = "saved",
  REFUSED = "refused";

export class QueueList {
  entries = []; // {document, why, probability, ..., mine: null | boolean, state}
  position = 0;

  get current() {
    return this.entries[this.position] ?? null;
  }

  find(id) {
    return this.entries.find(entry => entry.document.id === id) ?? null;
  }

  /** Merge the server's queue: known documents get new figures, those ahead its order; none is shown twice. */
  merge(queue) {
    const fresh = new Map(queue.map(entry => [entry.document.id, entry]));
    const stays = (entry, index) =>
      index <= this.position || entry.mine !== null || entry.state !== NONE;
    const kept = this.entries.filter(stays);
    for (const entry of kept) {
      const news = fresh.get(entry.document.id);
      if (news && entry.mine === null) Object.assign(entry, news);
      fresh.delete(entry.document.id);
    }
    this.entries = [
      ...kept,
      ...[...fresh.values()].map(entry => ({ ...entry, mine: null, state: NONE })),
    ];
  }

  /** Go forward or back; false at either end. */
  move(step) {
    const next = this.position + step;
    if (next < 0 || next >= this.entries.length) return false;
    this.position = next;
    return true;
  }

  goTo(id) {
    const index = this.entries.findIndex(entry => entry.document.id === id);
    if (index >= 0) this.position = index;
    return index >= 0;
  }

  /** Go to the next document without a judgement, wrapping around; past the end if all have one. */
  advance() {
    const open = index => this.entries[index].mine === null;
    const indices = this.entries.map(
      (_, index) => (this.position + 1 + index) % this.entries.length,
    );
    const next = indices.find(open);
    this.position = next ?? this.entries.length;
    return next !== undefined;
  }
}
