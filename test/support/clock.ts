/**
 * When it is for the services of the tests, unless the environment variable TEST_CLOCK names another instant (ISO 8601 with
 * an offset): a Wednesday morning in Bogotá with a day of the schedule still ahead, holidays within its horizon and neither
 * the end of a month nor that of a year near. The machine's own clock and the database's may show anything else.
 */
const MOMENT = "2026-11-18T07:30:00-05:00";

/** The environment of a process that is to see the machine's clock and time zone as the tests do. */
export const machineClock: Readonly<Record<string, string>> = Object.fromEntries(
  ["TZ", "LD_PRELOAD", "FAKETIME", "FAKETIME_DONT_FAKE_MONOTONIC"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);

let startedAt = performance.now();
const momentMs = instantOf(process.env["TEST_CLOCK"] || MOMENT);

/** The tests' clock, in milliseconds since the epoch: shows the moment when a test file begins, and runs on from there. */
export function testNow(): number {
  return Math.round(momentMs + performance.now() - startedAt);
}

/** Sets the tests' clock back to the moment; done when a test file begins. */
export function restartClock(): void {
  startedAt = performance.now();
}

function instantOf(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms) || !/(Z|[+-]\d\d:\d\d)$/.test(text))
    throw new Error(`TEST_CLOCK is ${text}, but takes an instant such as ${MOMENT}`);
  return ms;
}
