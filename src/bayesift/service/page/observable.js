/**
 * A value that others can watch; a watcher that comes with a signal leaves when it is aborted.
 * @template T
 * @param {T} value
 */
export function observable(value) {
  const watchers = new Set();
  return {
    get value() {
      return value;
    },
    /** @param {T} next */
    set(next) {
      if (next === value) return;
      value = next;
      for (const watcher of [...watchers]) watcher(value);
    },
    /**
     * @param {(value: T) => void} watcher
     * @param {AbortSignal} [signal]
     */
    watch(watcher, signal) {
      watchers.add(watcher);
      signal?.addEventListener("abort", () => watchers.delete(watcher));
      watcher(value);
    },
  };
}
