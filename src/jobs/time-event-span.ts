import type { Transaction } from "../call.js";
import { DEFAULT_REMINDER_OFFSETS, findTenantSettings } from "../postgres/tables/settings/tenant-settings.js";
import {
  type DueAppointment,
  type ExpiredEntry,
  findPlacedTimes,
  lockDueAppointments,
  lockExpiredEntries,
  type Window,
} from "../postgres/tables/time-events/due-events.js";
import { insertTimeEvents, type TimeEvent } from "../postgres/tables/time-events/insert-time-events.js";
import { advanceProgress, lockProgress } from "../postgres/tables/time-events/time-event-progress.js";
import { endOfLocalDay, localDateAt } from "../scheduling/local-clock.js";

const MINUTE_MS = 60_000;

/**
 * The limits for one call of {@link writeSpan}. The call writes the reminder, no-show and expiry events that became due
 * in a span of time.
 */
export interface SpanLimits {
  /** Events that become due after this time are left to a later call. */
  readonly until: Date;
  /** Events that were due at or before this time are skipped. */
  readonly notBefore: Date;
  /** The maximum length of the span, in milliseconds. */
  readonly maxMs: number;
  /** Minutes from the start of an appointment to its no-show event, for a tenant that has not set its own number. */
  readonly noShowGraceMinutes: number;
  readonly correlationId: string;
}

/** The result of {@link writeSpan}. */
export interface WrittenSpan {
  /** The number of written events. */
  readonly written: number;
  /** Whether this call reached the limit `until`. If false, call {@link writeSpan} again for the later events. */
  readonly isLast: boolean;
}

/**
 * An appointment and one of its events. The minutes count from the event to the start of the appointment; they are
 * negative for an event after the start.
 */
interface Timed {
  readonly appointment: DueAppointment;
  readonly minutes: number;
}

/** An event with the time at which it became due. */
interface Due extends TimeEvent {
  readonly dueMs: number;
}

/**
 * Writes the reminder, no-show and expiry events of a tenant that became due after its progress, and advances the
 * progress. The progress is the time up to which these events are written. Writes nothing for a tenant without stored
 * progress.
 *
 * All calls that began before `until` must have ended. So a booking or move that is not visible yet is newer than
 * `until`. It needs no event that was due by `until`.
 *
 * The statements lock rows in the same order as calls do: waitlist entries, then appointments, each by id. They read
 * the newest committed version of each row. So the events of a row enter the feed in the order of its versions.
 */
export async function writeSpan(transaction: Transaction, limits: SpanLimits): Promise<WrittenSpan> {
  const [through, settings] = await Promise.all([lockProgress(transaction), findTenantSettings(transaction)]);
  const afterMs = Math.max(through?.getTime() ?? Number.POSITIVE_INFINITY, limits.notBefore.getTime());
  if (afterMs >= limits.until.getTime()) return { written: 0, isLast: true };
  const untilMs = Math.min(limits.until.getTime(), afterMs + limits.maxMs);
  const offsets = settings.reminderOffsetMinutes ?? DEFAULT_REMINDER_OFFSETS;
  const events = await lockDueEvents(
    transaction,
    { after: new Date(afterMs), until: new Date(untilMs) },
    { offsets, noShowGraceMinutes: settings.noShowGraceMinutes ?? limits.noShowGraceMinutes },
  );
  insertTimeEvents(transaction, events, limits.correlationId);
  advanceProgress(transaction, new Date(untilMs));
  return { written: events.length, isLast: untilMs === limits.until.getTime() };
}

async function lockDueEvents(
  transaction: Transaction,
  window: Window,
  { offsets, noShowGraceMinutes }: { readonly offsets: readonly number[]; readonly noShowGraceMinutes: number },
): Promise<Due[]> {
  const [from, today] = [localDateAt(window.after.getTime()), localDateAt(window.until.getTime())];
  const minutes = [...offsets, -noShowGraceMinutes];
  const [entries, appointments] = await Promise.all([
    from < today ? lockExpiredEntries(transaction, from, today) : [],
    lockDueAppointments(transaction, window, minutes),
  ]);
  const timed = appointments.flatMap((appointment) => minutes.map((each) => ({ appointment, minutes: each })));
  const kept = await keepPlaced(transaction, timed.filter(isIn(window)));
  return [...entries.flatMap(expiryOf), ...kept.map(appointmentEvent)].toSorted((a, b) => a.dueMs - b.dueMs);
}

function isIn({ after, until }: Window): (timed: Timed) => boolean {
  return (timed) => dueMsOf(timed) > after.getTime() && dueMsOf(timed) <= until.getTime();
}

/**
 * Drops the events that became due before the booking of their appointment, or before the last change of its start.
 * Returns the others. A move to another practitioner or program at the same start drops no event.
 */
async function keepPlaced(transaction: Transaction, appointments: readonly Timed[]): Promise<readonly Timed[]> {
  const isChanged = (each: Timed) => each.appointment.updatedAt.getTime() > dueMsOf(each);
  const changed = new Set(appointments.filter(isChanged).map(({ appointment }) => appointment.id));
  const placed = await findPlacedTimes(transaction, [...changed]);
  return appointments.filter((each) => {
    const { id, createdAt } = each.appointment;
    return !isChanged(each) || (placed.get(id) ?? createdAt).getTime() <= dueMsOf(each);
  });
}

function dueMsOf({ appointment, minutes }: Timed): number {
  return appointment.startsAt.getTime() - minutes * MINUTE_MS;
}

function appointmentEvent(timed: Timed): Due {
  const { id, version } = timed.appointment;
  return {
    action: timed.minutes > 0 ? "REMINDER_DUE" : "NO_SHOW_DUE",
    resourceType: "Appointment",
    resourceId: id,
    resourceVersion: version,
    dueMs: dueMsOf(timed),
  };
}

/**
 * Returns the EXPIRED event of a waitlist entry, due at the end of the entry's last date. Returns no event for an entry
 * that was added after that time.
 */
function expiryOf({ id, version, dateTo, createdAt }: ExpiredEntry): Due[] {
  const dueMs = Date.parse(endOfLocalDay(dateTo));
  if (createdAt.getTime() > dueMs) return [];
  return [{ action: "EXPIRED", resourceType: "WaitlistEntry", resourceId: id, resourceVersion: version, dueMs }];
}
