/** How many calls are on their way at any time. */
export const AT_ONCE = 8;

/**
 * Makes all calls, eight at once, the last one first. Gives how many were answered a second, and how long half of them and all but a
 * hundredth took at most, in ms. Rejects where one does.
 *
 * @param {readonly (() => Promise<unknown>)[]} calls
 */
export async function runAtOnce(calls) {
  const times = [];
  const waiting = [...calls];
  const startedAt = performance.now();
  const work = async () => {
    for (let call = waiting.pop(); call !== undefined; call = waiting.pop()) {
      const begunAt = performance.now();
      await call();
      times.push(performance.now() - begunAt);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const seconds = (performance.now() - startedAt) / 1_000;
  const sorted = times.toSorted((a, b) => a - b);
  const [p50Ms, p99Ms] = [0.5, 0.99].map((share) => sorted[Math.floor(sorted.length * share)]);
  return { rate: calls.length / seconds, p50Ms, p99Ms };
}
