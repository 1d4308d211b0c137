import { setImmediate } from "node:timers/promises";

/** The highest number of rows that one turn of the event loop processes. A turn takes less than a millisecond. */
const ROWS_A_TURN = 10;

/**
 * Maps items in order. Maps at most {@link ROWS_A_TURN} items in each turn of the event loop, so that other calls can
 * run between the turns.
 */
export async function mapInTurns<T, R>(items: readonly T[], map: (item: T, index: number) => R): Promise<R[]> {
  const mapped: R[] = [];
  for (const [index, item] of items.entries()) {
    if (index % ROWS_A_TURN === ROWS_A_TURN - 1) await setImmediate();
    mapped.push(map(item, index));
  }
  return mapped;
}
