import * as fixtures from "../contract/fixtures.js";
import type { Storm } from "../schedule/storm-context.js";
import { findOptions } from "../schedule/storm-options.js";
import { withoutNewMembers } from "../support/released-members.js";

/** As many as a patient can have. */
const HOLDS = 3;

/** Holds of a minute that nobody ends. */
export interface LeftHolds {
  /** Whether all have expired, and somebody took the time of one of them afterwards. */
  isOver(): Promise<boolean>;
  /** Returns the holds that did not end at their expiry. */
  wrongEnds(): Promise<readonly unknown[]>;
}

/**
 * Holds the earliest options for a minute, for a patient of their own. The callers of a storm end each hold that they
 * know, and merges end those of the other patients, so none of these lives for a minute.
 */
export async function leaveHolds(storm: Omit<Storm, "isOver" | "look">): Promise<LeftHolds> {
  const { service, send, fixture } = storm;
  const patientId = await fixtures.createPatient(service, withoutNewMembers());
  const holdIds: string[] = [];
  while (holdIds.length < HOLDS) {
    const [option] = await findOptions(storm, { patientId, appointmentTypeId: fixture.appointmentTypeId });
    const { body } = await send("HoldAppointmentOption", { optionToken: `${option?.optionToken}`, minutes: 1 });
    const hold = body["hold"] as { readonly holdId: string } | undefined;
    if (hold !== undefined) holdIds.push(hold.holdId);
  }
  const ids = holdIds.map((id) => `'${id}'`).join();
  return {
    isOver: async () => (await service.query(takenAgain(ids))).length > 0,
    async wrongEnds() {
      const answers = await Promise.all(holdIds.map((holdId) => send("GetHold", { holdId })));
      const holds = answers.map(({ body }) => body["hold"] as { endedAt?: string; expiresAt: string });
      return holds.filter(({ endedAt, expiresAt }) => endedAt !== expiresAt);
    },
  };
}

function takenAgain(ids: string): string {
  const isSame = "o.practitioner_id = h.practitioner_id AND o.starts_at < h.ends_at AND o.ends_at > h.starts_at";
  return `SELECT FROM appointment_holds h WHERE id IN (${ids})
    HAVING bool_and(expires_at < now()) AND bool_or(
      EXISTS (SELECT FROM appointment_holds o WHERE ${isSame} AND o.created_at >= h.expires_at)
      OR EXISTS (SELECT FROM appointments o WHERE ${isSame} AND o.created_at >= h.expires_at AND NOT o.overbooked))`;
}
