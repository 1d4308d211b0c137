import type { ReadyCall } from "../../call.js";
import { conflict, validationFailed } from "../../errors.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import { type DeskWaitlistEntryRecord, writeWaitlistEntryClosure } from "../../postgres/tables/desk/waitlist.js";

const FIELD = "waitlistEntryId";

/** Refuses to book for an entry that is closed: 409. */
export function requireWaiting(entry: DeskWaitlistEntryRecord | undefined): void {
  if (entry === undefined || entry.deskStatus === "ACTIVE") return;
  throw conflict({ code: "STATE_NOT_ALLOWED", field: FIELD, message: "the entry is closed" });
}

/** Refuses to book for an entry of another patient, or one that waits for another service: 422. */
export function requireServes(entry: DeskWaitlistEntryRecord | undefined, patientId: string, serviceId: string): void {
  if (entry === undefined || (entry.patientId === patientId && entry.serviceId === serviceId)) return;
  const message =
    entry.patientId === patientId ? "the entry waits for another service" : "the entry is another patient's";
  throw validationFailed([{ code: "INVALID_VALUE", field: FIELD, message }]);
}

/** Closes the entry that an appointment serves, if there is one, in the commit that books it. */
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
