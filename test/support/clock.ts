/**
 * The default time of test services. The environment variable TEST_CLOCK replaces it (ISO 8601 with an offset). It is a
 * Wednesday morning in Bogotá with most of the day's schedule ahead. Holidays lie within the horizon, and no end of a
 * month or year is near. The clocks of the machine and the database may show any other time.
 */
const MOMENT = "2026-11-18T07:30:00-05:00";

/** Environment variables that give a process the same machine clock and time zone as the tests. */
export const machineClock: Readonly<Record<string, string>> = Object.fromEntries(
  ["TZ", "LD_PRELOAD", "FAKETIME", "FAKETIME_DONT_FAKE_MONOTONIC"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);

let startedAt = performance.now();
const momentMs = instantOf(process.env["TEST_CLOCK"] || MOMENT);

/**
 * Returns the tests' clock, in milliseconds since the epoch. It starts at the default time when a test file begins, and
 * then runs.
 */
export function testNow(): number {
  return Math.round(momentMs + performance.now() - startedAt);
}

/** Resets the tests' clock. Called when a test file begins. */
export function restartClock(): void {
  startedAt = performance.now();
}

function instantOf(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms) || !/(Z|[+-]\d\d:\d\d)$/.test(text))
    throw new Error(`TEST_CLOCK is ${text}; it must be an instant such as ${MOMENT}`);
  return ms;
}
