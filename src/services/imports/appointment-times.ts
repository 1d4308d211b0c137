import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { FieldError } from "../../errors.js";
import { AppointmentDetails_Status } from "../../gen/cupo/clinic/v1/appointment_details_pb.js";
import type { ImportedAppointmentValid } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import type { AppointmentStatus } from "../../postgres/tables/appointments/appointment-status.js";
import { endOfBookableStarts, minuteOf } from "../../scheduling/booking-times.js";
import { clinicTimeZone, endOfLocalDay, formatInstant, localDateAt } from "../../scheduling/local-clock.js";
import { earlierDate } from "../../scheduling/local-date.js";
import { earliestStepMs, type VisitMargins } from "../../scheduling/visit-times.js";
import { nameIn } from "../resources/enum-names.js";

/** The times and the status of an imported appointment. */
export interface ImportedTime {
  readonly startMs: number;
  readonly endMs: number;
  /** The local date of the start in America/Bogota, YYYY-MM-DD. */
  readonly localDate: string;
  readonly status: AppointmentStatus;
  /** Whether the appointment is PENDING or CONFIRMED and starts in the future. */
  readonly isAhead: boolean;
}

/** The current time, and the limits for the times of imported appointments. */
export interface ImportClock {
  readonly nowMs: number;
  /** Today's local date, YYYY-MM-DD. */
  readonly today: string;
  /** An appointment can start this many days after today, or later if its program has a longer horizon. */
  readonly horizonDays: number;
  readonly margins: VisitMargins;
}

/**
 * Returns the current time and the time limits of a batch. The schedules of the tenant extend `horizonDays` days after
 * today.
 */
export function importClock(nowMs: number, margins: VisitMargins, horizonDays: number): ImportClock {
  return { nowMs, margins, today: localDateAt(nowMs), horizonDays };
}

/**
 * Returns the times and the status of an appointment, and an error item for each wrong time, status, reason or date. It
 * does not check the horizon ({@link horizonErrors}).
 */
export function judgeTime(
  value: ImportedAppointmentValid,
  clock: ImportClock,
): { readonly time: ImportedTime; readonly errors: readonly FieldError[] } {
  const time = readTime(value, clock.nowMs);
  const { localDate, status } = time;
  const errors = [
    ...timeErrors(time),
    ...statusErrors(time, clock),
    ...reasonErrors(value, status),
    ...requestErrors(value, localDate, clock),
  ];
  return { time, errors };
}

/** Returns the times and the status of an appointment. `nowMs` is the current time in milliseconds since the epoch. */
export function readTime(
  value: Pick<ImportedAppointmentValid, "startsAt" | "endsAt" | "status">,
  nowMs: number,
): ImportedTime {
  const startMs = timestampMs(value.startsAt);
  const status = nameIn(AppointmentDetails_Status, value.status);
  const isAhead = startMs > nowMs && (status === "PENDING" || status === "CONFIRMED");
  return { startMs, endMs: timestampMs(value.endsAt), localDate: localDateAt(startMs), status, isAhead };
}

/**
 * Returns an error item if an appointment starts after the horizon of the tenant and after that of its program.
 * `ofProgram` is the program's own horizon in days; undefined if it has none.
 */
export function horizonErrors({ startMs }: ImportedTime, clock: ImportClock, ofProgram = 0): FieldError[] {
  const endMs = endOfBookableStarts(clock.nowMs, Math.max(clock.horizonDays, ofProgram));
  return startMs < endMs ? [] : [item("startsAt", "OUT_OF_RANGE", `the value must be before ${formatInstant(endMs)}`)];
}

function timeErrors({ startMs, endMs, localDate }: ImportedTime): FieldError[] {
  const wholeMinute = "the value must be a whole minute";
  return [
    ...(minuteOf(startMs) === startMs ? [] : [item("startsAt", "OUT_OF_RANGE", wholeMinute)]),
    ...(minuteOf(endMs) === endMs ? [] : [item("endsAt", "OUT_OF_RANGE", wholeMinute)]),
    ...(endMs <= Date.parse(endOfLocalDay(localDate))
      ? []
      : [
          item(
            "endsAt",
            "INVALID_RANGE",
            `the appointment must end on the day on which it starts, in ${clinicTimeZone}`,
          ),
        ]),
  ];
}

function statusErrors(
  { startMs, localDate, status }: ImportedTime,
  { nowMs, today, margins }: ImportClock,
): FieldError[] {
  if (status === "CHECKED_IN" && localDate !== today)
    return [item("status", "INVALID_VALUE", "only an appointment of today can be CHECKED_IN")];
  if (status !== "CHECKED_IN" && status !== "ATTENDED" && status !== "NO_SHOW") return [];
  if (nowMs >= earliestStepMs(status, startMs, margins)) return [];
  return [item("status", "INVALID_VALUE", "the appointment begins too late to have this status already")];
}

const REASONS = [
  ["cancellationReasonId", "CANCELLED"],
  ["noShowReasonId", "NO_SHOW"],
] as const;

function reasonErrors(value: ImportedAppointmentValid, status: AppointmentStatus): FieldError[] {
  const errors = REASONS.flatMap(([field, needs]) => {
    if (status === needs && value[field] === undefined)
      return [item(field, "REQUIRED", `the field is required for ${needs}`)];
    if (status !== needs && value[field] !== undefined)
      return [item(field, "INVALID_VALUE", `the field must be absent unless the status is ${needs}`)];
    return [];
  });
  const hasReason = REASONS.some(([, needs]) => needs === status);
  if (hasReason || value.comment === undefined) return errors;
  return [...errors, item("comment", "INVALID_VALUE", "the field must be absent without a reason")];
}

/**
 * Returns the last allowed date (YYYY-MM-DD) of `requestedOn` and `assignedOn`: today or the `localDate` of the
 * appointment, whichever is earlier.
 */
export function latestAssignment(localDate: string, nowMs: number): string {
  return earlierDate(localDateAt(nowMs), localDate);
}

/** {@link latestAssignment} in words, because a message repeats no value of the request, such as the date of startsAt. */
const LATEST = "today or the local date of startsAt, whichever is earlier";

function requestErrors(
  { requestedOn, assignedOn, desiredOn }: ImportedAppointmentValid,
  localDate: string,
  { nowMs }: ImportClock,
): FieldError[] {
  const latest = latestAssignment(localDate, nowMs);
  const errors: FieldError[] = [];
  if (requestedOn > latest) errors.push(item("requestedOn", "OUT_OF_RANGE", `the value must not be after ${LATEST}`));
  if (assignedOn !== undefined && (assignedOn < requestedOn || assignedOn > latest))
    errors.push(item("assignedOn", "OUT_OF_RANGE", `the value must not be before requestedOn or after ${LATEST}`));
  if (desiredOn !== undefined && desiredOn < requestedOn)
    errors.push(item("desiredOn", "OUT_OF_RANGE", "the value must not be before requestedOn"));
  return errors;
}

function item(field: keyof ImportedAppointmentValid, code: FieldError["code"], message: string): FieldError {
  return { code, field: `appointment.${field}`, message };
}
