import type { Message } from "@bufbuild/protobuf";

/** Messages that a consumer can abandon at any time. */
export interface AbortableMessages extends AsyncIterator<Message> {
  /** Ends the iteration without waiting for the implementation. Ignores later errors of the implementation. */
  abandon(): void;
}

/** Returns an iterator that rejects as soon as the signal aborts, even if the implementation ignores the signal. */
export function abortableMessages(messages: AsyncIterable<Message>, signal: AbortSignal): AbortableMessages {
  const iterator = messages[Symbol.asyncIterator]();
  return {
    next: () => untilAborted(iterator.next(), signal),
    abandon: () => void iterator.return?.().then(undefined, () => {}),
  };
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    const forget = () => signal.removeEventListener("abort", onAbort);
    work.finally(forget).then(resolve, reject);
  });
}
