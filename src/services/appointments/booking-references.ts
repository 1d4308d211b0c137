import type { ReadyCall } from "../../call.js";
import { type FieldError, unknownReferences, validationFailed } from "../../errors.js";
import { appointmentTypes, consultationTypes, requestSources } from "../../postgres/tables/catalogs/catalogs.js";
import type { Locked } from "../../postgres/tables/locks.js";
import { findResource, type ResourceTable } from "../../postgres/tables/resources/resources.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { findDueDate } from "../resources/due-date.js";
import { inactive, missing } from "../resources/preconditions.js";
import { requireActive } from "./appointment-preconditions.js";
import { requireWaiting } from "./served-entry.js";

/** The references of every booking, with an option or by time. */
export interface BookingReferences {
  readonly requestSourceId: string;
  readonly appointmentTypeId: string;
  readonly consultationTypeId?: string | undefined;
}

/**
 * The first and the last day of a patient's wait, as local dates (YYYY-MM-DD). `dueOn` is undefined if nothing limits
 * the wait.
 */
export interface Wait {
  readonly requestedOn: string;
  readonly dueOn: string | undefined;
}

/** The result of checking the references of a request. */
export interface JudgedReferences {
  readonly missing: readonly FieldError[];
  readonly inactive: readonly FieldError[];
  /** The duration of an appointment of the type, in minutes. 0 if the type does not exist. */
  readonly typeMinutes: number;
  /** The wait that starts with the request. The opportunity definition of the type limits it. */
  readonly wait: Wait;
}

/** Checks the references of a booking. Resources that the principal may not see are missing. */
export async function judgeReferences(
  request: BookingReferences,
  call: ReadyCall,
  nowMs: number,
): Promise<JudgedReferences> {
  const requestedOn = localDateAt(nowMs);
  const [source, type, consultation, dueOn] = await Promise.all([
    isActive(call, requestSources, request.requestSourceId),
    findResource(call.transaction, call.principal, appointmentTypes, request.appointmentTypeId),
    request.consultationTypeId === undefined || isActive(call, consultationTypes, request.consultationTypeId),
    findDueDate(call.transaction, request, requestedOn),
  ]);
  const judged = [
    ["requestSourceId", source],
    ["appointmentTypeId", type?.active],
    ["consultationTypeId", consultation],
  ] as const;
  return {
    missing: judged.filter(([, active]) => active === undefined).map(([field]) => missing(field)),
    inactive: judged.filter(([, active]) => active === false).map(([field]) => inactive(field)),
    typeMinutes: type?.durationMinutes ?? 0,
    wait: { requestedOn, dueOn },
  };
}

/**
 * Throws 404 if something does not exist, then 409 if the patient is not active or the waitlist entry is closed, then
 * 422 if another reference is not active.
 */
export function requireUsable(
  { patient, waitlistEntry }: Pick<Locked, "patient" | "waitlistEntry">,
  { missing: unknown, inactive: unusable }: Pick<JudgedReferences, "missing" | "inactive">,
  waitlistEntryId: string | undefined,
): void {
  const absent = [...unknown];
  if (patient === undefined) absent.unshift(missing("patientId"));
  if (waitlistEntryId !== undefined && waitlistEntry === undefined) absent.push(missing("waitlistEntryId"));
  if (absent.length > 0) throw unknownReferences(absent);
  requireActive(patient, "patientId");
  requireWaiting(waitlistEntry);
  if (unusable.length > 0) throw validationFailed(unusable);
}

async function isActive(
  call: ReadyCall,
  table: ResourceTable<{ active: boolean }>,
  id: string,
): Promise<boolean | undefined> {
  return (await findResource(call.transaction, call.principal, table, id))?.active;
}
