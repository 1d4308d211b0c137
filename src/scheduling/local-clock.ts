import * as Instant from "temporal-polyfill/fns/Instant";
import * as PlainDate from "temporal-polyfill/fns/PlainDate";
import * as PlainDateTime from "temporal-polyfill/fns/PlainDateTime";
import * as ZonedDateTime from "temporal-polyfill/fns/ZonedDateTime";
import { firstLocalDate, laterDate, parseLocalDate } from "./local-date.js";
import { secondsPerDay } from "./local-time.js";

/** The name of the time zone of all local dates and times of the service (specification section 1). */
export const clinicTimeZone = "America/Bogota";

const msPerSecond = 1_000;
const MAX_EVEN_DAYS = 2_000;
const evenDays = new Map<string, number | undefined>();
const lastInstantMs = Date.parse("9999-12-31T23:59:59Z");

/**
 * Caches the day of the most recent result of {@link localDateAt}, because most calls ask about today. A day with a
 * clock change is not cached.
 */
let latestDay = { date: "", startMs: 0, endMs: 0 };

/**
 * Returns the local date at an instant. `instantMs` is in milliseconds since the epoch. The result is 0001-01-01 at the
 * earliest: a Timestamp can be some hours before that local date begins.
 */
export function localDateAt(instantMs: number): string {
  if (instantMs >= latestDay.startMs && instantMs < latestDay.endMs) return latestDay.date;
  const date = laterDate(PlainDate.toString(ZonedDateTime.toPlainDate(zonedAt(instantMs))), firstLocalDate);
  const startMs = startOfEvenDay(date);
  if (startMs !== undefined) latestDay = { date, startMs, endMs: startMs + secondsPerDay * msPerSecond };
  return date;
}

/**
 * Returns the first instant of a local date, as UTC text. The first instant is not local midnight if a clock change
 * skips midnight.
 */
export function startOfLocalDay(date: string): string {
  return formatInstant(instantMsOf(date, 0));
}

/** Returns the first instant after a local date, as UTC text. */
export function endOfLocalDay(date: string): string {
  return formatInstant(instantMsOf(date, secondsPerDay));
}

/**
 * Returns the milliseconds since the epoch at a second of a local day; 86,400 is the end of the day. The result is at
 * most the last second that RFC 3339 and a Timestamp can represent.
 *
 * A local time that a clock change skips becomes the instant of the change. A local time that occurs twice becomes its
 * first instant. So windows that do not overlap in local time do not overlap in UTC either.
 */
export function instantMsOf(date: string, secondOfDay: number): number {
  const startMs = startOfEvenDay(date);
  const instantMs = startMs === undefined ? instantOfSecond(date, secondOfDay) : startMs + secondOfDay * msPerSecond;
  return Math.min(instantMs, lastInstantMs);
}

/**
 * Returns the first instant of a day without a clock change, in milliseconds since the epoch. Returns undefined for a
 * day with a clock change. Results are cached, because a query of the time zone database takes longer than planning a
 * day's slots.
 */
function startOfEvenDay(date: string): number | undefined {
  if (evenDays.has(date)) return evenDays.get(date);
  const startMs = instantOfSecond(date, 0);
  const change = ZonedDateTime.getTimeZoneTransition(zonedAt(startMs - 1), "next");
  const isEven = (change?.epochMilliseconds ?? Number.POSITIVE_INFINITY) > startMs + secondsPerDay * msPerSecond;
  if (evenDays.size >= MAX_EVEN_DAYS) evenDays.clear();
  evenDays.set(date, isEven ? startMs : undefined);
  return evenDays.get(date);
}

function instantOfSecond(date: string, secondOfDay: number): number {
  const local = PlainDateTime.addSeconds(PlainDate.toPlainDateTime(parseLocalDate(date)), secondOfDay);
  const zoned = PlainDateTime.toZonedDateTime(local, clinicTimeZone, { disambiguation: "earlier" });
  const isSkipped = !PlainDateTime.equals(ZonedDateTime.toPlainDateTime(zoned), local);
  const change = isSkipped ? ZonedDateTime.getTimeZoneTransition(zoned, "next") : zoned;
  return (change ?? zoned).epochMilliseconds;
}

/**
 * Formats an instant as UTC text with `Z`, such as 2026-11-02T13:00:00Z. Milliseconds are included unless they are 0.
 */
export function formatInstant(instantMs: number): string {
  return new Date(instantMs).toISOString().replace(".000Z", "Z");
}

function zonedAt(instantMs: number): ZonedDateTime.Record {
  return Instant.toZonedDateTimeISO(Instant.fromEpochMilliseconds(instantMs), clinicTimeZone);
}
