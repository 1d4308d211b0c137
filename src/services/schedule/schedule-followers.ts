import type { Transaction } from "../../call.js";
import { findProgramsOf } from "../../postgres/tables/appointments/booked-practitioners.js";
import { findProgramsAt } from "../../postgres/tables/schedule/availability.js";
import { ownCalendar } from "../../postgres/tables/schedule/calendars.js";
import { horizonFrom } from "../../scheduling/horizon.js";
import type { SlotLimits } from "./plan-budget.js";
import { remakeSpan } from "./remake-span.js";

/**
 * What schedules do when a practitioner or a location becomes active, or ceases to be: slots up to the horizon are withdrawn
 * and restored, and booked ones retained, as by a block. A practitioner is not locked yet then, because slots come first in
 * the one order of `tables/locks.ts`; a location is, and its new activity was sent. `now` gives milliseconds since the epoch.
 */
export function createScheduleFollowers(now: () => number, { perTenant }: SlotLimits) {
  return {
    begin: ownCalendar,
    async practitioner(transaction: Transaction, id: string, active: boolean) {
      const nowMs = now();
      const programIds = await findProgramsOf(transaction, id, new Date(nowMs));
      const changes = { practitioner: { id, active } };
      const change = { programIds, span: horizonFrom(nowMs), changes, practitionerId: id, maxOpenSlots: perTenant };
      await remakeSpan(transaction, change, nowMs);
    },
    async location(transaction: Transaction, id: string) {
      const nowMs = now();
      const programIds = await findProgramsAt(transaction, id);
      const change = { programIds, span: horizonFrom(nowMs), changes: {}, maxOpenSlots: perTenant };
      await remakeSpan(transaction, change, nowMs);
    },
  };
}
