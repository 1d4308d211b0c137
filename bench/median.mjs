/**
 * The value in the middle; of two in the middle, the lower one.
 *
 * @param {readonly number[]} values At least one.
 */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}
