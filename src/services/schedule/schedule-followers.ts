import type { Transaction } from "../../call.js";
import { findProgramsOf } from "../../postgres/tables/appointments/booked-practitioners.js";
import { findProgramsAt } from "../../postgres/tables/schedule/availability.js";
import { ownCalendar } from "../../postgres/tables/schedule/calendars.js";
import { widestSpan } from "../../scheduling/horizon.js";
import type { SlotLimits } from "./plan-budget.js";
import { remakeSpan } from "./remake-span.js";

/**
 * Returns functions that update slots when a practitioner or a location becomes active or inactive. An inactive
 * practitioner or location has no free slots, and its future appointments are displaced. When it becomes active
 * again, its free slots return and its appointments are no longer displaced.
 *
 * When to call the functions (`nowMs` is in milliseconds since the epoch):
 * - `begin` first; it locks the calendar exclusively
 * - `practitioner` before the practitioner is locked, because slots come before practitioners in the lock order of
 *   `tables/locks.ts`
 * - `location` when the location is locked and its new `active` value is written
 */
export function createScheduleFollowers({ perTenant }: SlotLimits) {
  return {
    begin: ownCalendar,
    async practitioner(transaction: Transaction, id: string, active: boolean, nowMs: number) {
      const programIds = await findProgramsOf(transaction, id, new Date(nowMs));
      const changes = { practitioner: { id, active } };
      const change = { programIds, span: widestSpan(nowMs), changes, practitionerId: id, maxOpenSlots: perTenant };
      await remakeSpan(transaction, change, nowMs);
    },
    async location(transaction: Transaction, id: string, nowMs: number) {
      const programIds = await findProgramsAt(transaction, id);
      const change = { programIds, span: widestSpan(nowMs), changes: {}, maxOpenSlots: perTenant };
      await remakeSpan(transaction, change, nowMs);
    },
  };
}
