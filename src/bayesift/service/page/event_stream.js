// Server-sent events of a filter. A browser gives up a stream that answers with an error; it is reopened here.

import { api, ping } from "./api.js";

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;
const KINDS = ["retrieved", "judgement", "message"];

/**
 * Call `onEvent` for every event of a filter until the signal is aborted; `onOpen` after each
 * (re)connection.
 * @param {string} filter
 * @param {{onEvent: (kind: string, data: any) => void, onOpen?: () => void, signal: AbortSignal}} options
 */
export function follow(filter, { onEvent, onOpen, signal }) {
  let source = null,
    timer = null,
    wait = FIRST_WAIT;
  const open = () => {
    source = new EventSource(api.eventsOf(filter));
    source.addEventListener("open", () => {
      wait = FIRST_WAIT;
      onOpen?.();
    });
    for (const kind of KINDS) {
      source.addEventListener(kind, event => onEvent(kind, JSON.parse(event.data)));
    }
    source.addEventListener("error", () => {
      ping();
      if (source.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(open, wait);
      wait = Math.min(2 * wait, LONGEST_WAIT);
    });
  };
  open();
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    source.close();
  });
}

/** `run` at most once in this many milliseconds, and always after the last call. */
export function throttled(run, milliseconds, signal) {
  let timer = null;
  signal.addEventListener("abort", () => clearTimeout(timer));
  return () => {
    if (signal.aborted || timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      run();
    }, milliseconds);
  };
}
