import * as Instant from "temporal-polyfill/fns/Instant";
import * as PlainDate from "temporal-polyfill/fns/PlainDate";
import * as PlainDateTime from "temporal-polyfill/fns/PlainDateTime";
import * as ZonedDateTime from "temporal-polyfill/fns/ZonedDateTime";
import { parseLocalDate } from "./local-date.js";
import { secondsPerDay } from "./local-time.js";

/** Where every local date and time of the service is local (specification section 1), by the time zone database. */
export const clinicTimeZone = "America/Bogota";

const msPerSecond = 1_000;
const MAX_EVEN_DAYS = 2_000;
const evenDays = new Map<string, number | undefined>();
const lastInstantMs = Date.parse("9999-12-31T23:59:59Z");

/** The local date at an instant, in milliseconds since the epoch. */
export function localDateAt(instantMs: number): string {
  return PlainDate.toString(ZonedDateTime.toPlainDate(zonedAt(instantMs)));
}

/** The first instant of a local date, as UTC text; not always local midnight, which a change of the clock can skip. */
export function startOfLocalDay(date: string): string {
  return formatInstant(instantMsOf(date, 0));
}

/** The first instant after a local date, as UTC text. */
export function endOfLocalDay(date: string): string {
  return formatInstant(instantMsOf(date, secondsPerDay));
}

/**
 * Milliseconds since the epoch at a second of a local day; 86,400 is the end of the day. A time that a change of the clock
 * skips is the moment of the change, one that happens twice is its first: so the order of local times is kept, and windows
 * that do not overlap on the wall do not overlap in fact. Never after the last second that RFC 3339 and a Timestamp can say.
 */
export function instantMsOf(date: string, secondOfDay: number): number {
  const startMs = startOfEvenDay(date);
  const instantMs = startMs === undefined ? instantOfSecond(date, secondOfDay) : startMs + secondOfDay * msPerSecond;
  return Math.min(instantMs, lastInstantMs);
}

/**
 * Where the clock stands at the same offset all day, the instant that the day begins at; undefined for the other days. Asking the
 * time zone database takes longer than planning a day's slots, and schedules ask for the same few hundred days again and again.
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

/** UTC text with `Z`, such as 2026-11-02T13:00:00Z; milliseconds are shown where there are any. */
export function formatInstant(instantMs: number): string {
  return new Date(instantMs).toISOString().replace(".000Z", "Z");
}

function zonedAt(instantMs: number): ZonedDateTime.Record {
  return Instant.toZonedDateTimeISO(Instant.fromEpochMilliseconds(instantMs), clinicTimeZone);
}
