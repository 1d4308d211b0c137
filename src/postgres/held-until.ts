/*
 * SQL over the ends of holds: an array of instants in ascending order, in the row that counts them. After PostgreSQL
 * waited for a row lock, it checks only that row again, so a count in another table could be outdated. width_bucket
 * returns how many are not after an instant. It is built in, so Citus needs no function on its workers, and it needs no
 * subquery, which Citus may reject.
 */

/** Returns SQL for the number of holds that end after `now`. */
export function liveHolds(held: string, now: string): string {
  return `cardinality(${held}) - width_bucket(${now}, ${held})`;
}

/** Returns SQL for the array with a hold until `:until`, and without those that have ended at `:now`. */
export function withHold(held: string): string {
  const [until, now] = [":until::timestamptz", ":now::timestamptz"];
  const place = `width_bucket(${until}, ${held})`;
  return `${held}[width_bucket(${now}, ${held}) + 1 : ${place}] || ${until} || ${held}[${place} + 1 :]`;
}

/** Returns SQL for the array without one hold until `:until`; unchanged if there is none. */
export function withoutHold(held: string): string {
  const place = `array_position(${held}, :until::timestamptz)`;
  return `coalesce(${held}[: ${place} - 1] || ${held}[${place} + 1 :], ${held})`;
}
