import type { ReadyCall } from "../../call.js";
import { type FieldError, validationFailed } from "../../errors.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import { type DeskWaitlistEntryRecord, writeWaitlistEntryClosure } from "../../postgres/tables/desk/waitlist.js";

const FIELD = "waitlistEntryId";

/** Returns a conflict if the waitlist entry is closed; no item if it is open or there is no entry. */
export function closedEntry(entry: DeskWaitlistEntryRecord | undefined): FieldError[] {
  if (entry === undefined || entry.deskStatus === "ACTIVE") return [];
  return [{ code: "STATE_NOT_ALLOWED", field: FIELD, message: "the waitlist entry is closed" }];
}

/** Requires that the waitlist entry, if there is one, is for this patient and this service. Otherwise throws 422. */
export function requireServes(entry: DeskWaitlistEntryRecord | undefined, patientId: string, serviceId: string): void {
  const found = misfitOf(entry, patientId, serviceId);
  if (found.length > 0) throw validationFailed(found);
}

/**
 * Returns an error item if the waitlist entry is for another patient or service. Otherwise, and without an entry,
 * returns no item.
 */
export function misfitOf(
  entry: DeskWaitlistEntryRecord | undefined,
  patientId: string,
  serviceId: string,
): FieldError[] {
  if (entry === undefined || (entry.patientId === patientId && entry.serviceId === serviceId)) return [];
  const message =
    entry.patientId === patientId
      ? "the waitlist entry is for another service"
      : "the waitlist entry belongs to another patient";
  return [{ code: "INVALID_VALUE", field: FIELD, message }];
}

/**
 * Closes the waitlist entry that the new appointment fulfils, in the transaction of the call. Does nothing without an
 * entry.
 */
export function closeServedEntry(
  call: ReadyCall,
  entry: DeskWaitlistEntryRecord | undefined,
  { id: appointmentId, createdAt: closedAt }: AppointmentRecord,
): void {
  if (entry === undefined) return;
  const version = entry.version + 1;
  const closure = { closedAt, closedBy: call.principal.id, closedByActor: call.actor, closeReason: undefined };
  writeWaitlistEntryClosure(call.transaction, entry.id, { ...closure, appointmentId, version });
  call.effects.push({ resourceType: "WaitlistEntry", resourceId: entry.id, action: "UPDATE", version });
}
