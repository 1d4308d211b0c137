/** An event that is not accepted is sent again until this many hours after its first attempt. */
export const RETRY_HOURS = 72;

const FIRST_MS = 5_000;
const MAX_MS = 8 * 60 * 60 * 1_000;
const LEAST_MS = 1_000;

/**
 * Returns the longest pause after the n-th failed attempt (from 1), in milliseconds: 5 s, doubled with each attempt, at
 * most 8 h.
 */
export function longestPauseMs(attempts: number): number {
  return Math.min(MAX_MS, FIRST_MS * 2 ** Math.max(0, attempts - 1));
}

/**
 * Returns the pause after the n-th failed attempt (from 1), in milliseconds: a random part of {@link longestPauseMs}
 * (full jitter), but at least 1 s. The jitter keeps events that failed together from being sent together again.
 * `random` is from 0 to below 1.
 */
export function pauseMs(attempts: number, random: number): number {
  return Math.max(LEAST_MS, Math.round(longestPauseMs(attempts) * random));
}
