import type { ReadyCall } from "../../call.js";
import { type FieldError, notFound, validationFailed } from "../../errors.js";
import { appointmentTypes, consultationTypes, requestSources } from "../../postgres/tables/catalogs/catalogs.js";
import type { Locked } from "../../postgres/tables/locks.js";
import { findResource, type ResourceTable } from "../../postgres/tables/resources/resources.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { findDueDate } from "../resources/due-date.js";
import { requireActive } from "./appointment-preconditions.js";
import { requireWaiting } from "./served-entry.js";

/** What every booking refers to, whichever way it finds its time. */
export interface BookingReferences {
  readonly requestSourceId: string;
  readonly appointmentTypeId: string;
  readonly consultationTypeId?: string | undefined;
}

/** From when a patient waits, and until when they may: local dates, YYYY-MM-DD; the second undefined where nothing limits it. */
export interface Wait {
  readonly requestedOn: string;
  readonly dueOn: string | undefined;
}

/** What was found of the references of a request. */
export interface JudgedReferences {
  readonly missing: readonly FieldError[];
  readonly inactive: readonly FieldError[];
  /** How long an appointment of the type takes; 0 where there is no such type. */
  readonly typeMinutes: number;
  /** The wait that begins with the request, by what the type allows. */
  readonly wait: Wait;
}

/** Looks at what a booking refers to, as the principal sees it. */
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

/** 404 for what does not exist, then 409 for a patient who is not active or no longer waits, then 422 for what else is not. */
export function requireUsable(
  { patient, waitlistEntry }: Pick<Locked, "patient" | "waitlistEntry">,
  { missing: unknown, inactive: unusable }: Pick<JudgedReferences, "missing" | "inactive">,
  waitlistEntryId: string | undefined,
): void {
  const absent = [...unknown];
  if (patient === undefined) absent.unshift(missing("patientId"));
  if (waitlistEntryId !== undefined && waitlistEntry === undefined) absent.push(missing("waitlistEntryId"));
  if (absent.length > 0) throw notFound("A resource that the request refers to does not exist; see errors.", absent);
  requireActive(patient, "patientId");
  requireWaiting(waitlistEntry);
  if (unusable.length > 0) throw validationFailed(unusable);
}

/** The error of a field that names what does not exist, or is not visible. */
export function missing(field: string): FieldError {
  return { code: "NOT_FOUND", field, message: "no such resource exists" };
}

/** The error of a field that names what is not active. */
export function inactive(field: string): FieldError {
  return { code: "INVALID_VALUE", field, message: "the resource is not active" };
}

async function isActive(
  call: ReadyCall,
  table: ResourceTable<{ active: boolean }>,
  id: string,
): Promise<boolean | undefined> {
  return (await findResource(call.transaction, call.principal, table, id))?.active;
}
