import type { ReadyCall } from "../../call.js";
import { dropHolder } from "../../postgres/tables/holds/hold-holders.js";
import { endHold, type HoldRecord } from "../../postgres/tables/holds/holds.js";

/**
 * Ends a hold because a booking or a reschedule has used its option. Does nothing without a hold. Does not change the
 * capacity of the day: `takeTime` gives the hold's unit of capacity to the appointment or frees it.
 *
 * Because of the lock order, call this after the statements that change the counters of days, and before
 * `noteFreedSlots`.
 */
export function endBookedHold(
  call: ReadyCall,
  hold: HoldRecord | undefined,
  appointmentId: string,
  nowMs: number,
): void {
  if (hold === undefined) return;
  endHold(call.transaction, hold.id, new Date(nowMs), appointmentId);
  dropHolder(call.transaction, hold);
  call.effects.push({ resourceType: "AppointmentHold", resourceId: hold.id, action: "UPDATE" });
}
