import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import { type FieldError, validationFailed } from "../../errors.js";
import { insertAppointmentChange } from "../../postgres/tables/appointments/appointment-history.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import { noShowReasons, type ReasonAttributes } from "../../postgres/tables/catalogs/catalogs.js";
import { findResource } from "../../postgres/tables/resources/resources.js";
import { DEFAULT_LATE_ENTRY_DAYS, type TenantSettingsRecord } from "../../postgres/tables/settings/tenant-settings.js";
import { formatInstant, localDateAt } from "../../scheduling/local-clock.js";
import type { VisitMargins } from "../../scheduling/visit-times.js";
import {
  attend,
  checkIn,
  earlyStep,
  missAppointment,
  requireStatus,
  type Transition,
} from "../appointments/appointment-transitions.js";

const DAY_MS = 86_400_000;

/**
 * The times at which the steps of a visit really happened. `reason` says why they are recorded afterwards. `comment`
 * belongs to the no-show reason.
 */
export interface GivenSteps {
  readonly arrivedAt?: Timestamp | undefined;
  readonly attendedAt?: Timestamp | undefined;
  readonly noShowAt?: Timestamp | undefined;
  readonly noShowReasonId?: string | undefined;
  readonly comment?: string | undefined;
  readonly reason: string;
}

/**
 * A step (arrival, attendance or no-show) that is recorded afterwards. `atMs` is the time at which it happened. `field`
 * is the request field with this time.
 */
export interface LateStep {
  readonly transition: Transition;
  readonly atMs: number;
  readonly field: "arrivedAt" | "attendedAt" | "noShowAt";
}

/** Returns the steps of a request in this order: arrival, attendance, no-show. */
export function lateStepsOf({ arrivedAt, attendedAt, noShowAt }: GivenSteps): readonly LateStep[] {
  const given = [
    [checkIn, "arrivedAt", arrivedAt],
    [attend, "attendedAt", attendedAt],
    [missAppointment, "noShowAt", noShowAt],
  ] as const;
  return given.flatMap(([transition, field, at]) =>
    at === undefined ? [] : [{ transition, field, atMs: timestampMs(at) }],
  );
}

/** Returns the no-show reason of a request; undefined if the request has none, or the caller can see no such reason. */
export async function findReason(
  { noShowReasonId }: GivenSteps,
  { transaction, principal }: ReadyCall,
): Promise<ReasonAttributes | undefined> {
  return noShowReasonId === undefined ? undefined : findResource(transaction, principal, noShowReasons, noShowReasonId);
}

/**
 * Throws 422 with an error for each wrong time in `steps`:
 * - A step must be on the local day of the visit and not in the future.
 * - The attendance must not be before the arrival. Without an arrival in `steps`, it must not be before `checkedInAt`,
 *   the recorded check-in.
 */
export function requireTrueTimes(
  steps: readonly LateStep[],
  startMs: number,
  nowMs: number,
  checkedInAt: Date | undefined,
): void {
  const day = localDateAt(startMs);
  const outside = steps.filter(({ atMs }) => atMs > nowMs || localDateAt(atMs) !== day);
  const message = `the value must be on ${day}, the day of the visit, and not after ${formatInstant(nowMs)}`;
  const errors = outside.map(({ field }): FieldError => ({ code: "OUT_OF_RANGE", field, message }));
  const arrivedMs = steps.find(({ field }) => field === "arrivedAt")?.atMs ?? checkedInAt?.getTime();
  const attended = steps.find(({ field }) => field === "attendedAt");
  if (attended !== undefined && arrivedMs !== undefined && attended.atMs < arrivedMs && !outside.includes(attended)) {
    const order = `the value must not be before the arrival at ${formatInstant(arrivedMs)}`;
    errors.push({ code: "INVALID_RANGE", field: attended.field, message: order });
  }
  if (errors.length > 0) throw validationFailed(errors);
}

/**
 * Returns a conflict on `field` if the local day of the visit is more than `lateEntryDays` days ago. If `lateEntryDays`
 * is 0, no visit or step may be recorded afterwards: returns a conflict for every day.
 */
export function tooLate(
  startMs: number,
  { lateEntryDays = DEFAULT_LATE_ENTRY_DAYS }: Pick<TenantSettingsRecord, "lateEntryDays">,
  nowMs: number,
  field: string,
): FieldError[] {
  const earliest = localDateAt(nowMs - lateEntryDays * DAY_MS);
  if (lateEntryDays > 0 && localDateAt(startMs) >= earliest) return [];
  const allowed = lateEntryDays === 0 ? "no late entries" : `late entries from ${earliest} on`;
  return [{ code: "TOO_LATE", field, message: `the tenant allows ${allowed} (lateEntryDays)` }];
}

/** A step with the appointment before and after it. */
export interface TakenStep extends LateStep {
  readonly before: AppointmentRecord;
  readonly after: AppointmentRecord;
}

/**
 * Returns each step with the appointment before and after it. Each step starts from the result of the previous one.
 * Each step increases `version` of the appointment by 1, and sets `lateEntry` to true and `updatedAt` to `nowMs`.
 * Throws 409 if the status does not allow a step. Writes nothing.
 */
export function takeSteps(
  appointment: AppointmentRecord,
  steps: readonly LateStep[],
  { noShowReasonId, comment }: GivenSteps,
  nowMs: number,
): readonly TakenStep[] {
  let before = appointment;
  return steps.map((step) => {
    const { to } = step.transition;
    requireStatus(before, step.transition);
    const version = before.version + 1;
    const reason = to === "NO_SHOW" ? { noShowReasonId, comment } : {};
    const after = { ...before, ...reason, status: to, lateEntry: true, version, updatedAt: new Date(nowMs) };
    const taken = { ...step, before, after };
    before = after;
    return taken;
  });
}

/**
 * Returns a conflict for each step that happened too early. `margins` limit how early a step may happen, relative to
 * the start of the appointment.
 */
export function earlySteps(
  appointment: Pick<AppointmentRecord, "startsAt">,
  steps: readonly LateStep[],
  margins: VisitMargins,
): FieldError[] {
  const judged = steps.map(({ transition, atMs: nowMs, field }) =>
    earlyStep(appointment, transition, { nowMs, margins }, field),
  );
  return judged.filter((error) => error !== undefined);
}

/**
 * Appends the steps to the history, each with the time at which it happened. Adds one effect for each step to the call.
 */
export function recordSteps(call: ReadyCall, taken: readonly TakenStep[], reason: string): void {
  for (const { before, after, atMs } of taken) {
    const topic = { reason, happenedAt: new Date(atMs) };
    insertAppointmentChange(call.transaction, before, after, call.principal, call, topic);
    const { id: resourceId, version } = after;
    call.effects.push({ resourceType: "Appointment", resourceId, action: "UPDATE", version });
  }
}
