/** Calls back once the event loop has read all that had arrived on any socket at the time of the call. */
export function afterPoll(callback: () => void): void {
  setImmediate(() => setImmediate(callback));
}
