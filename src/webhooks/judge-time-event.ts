import type { Transaction } from "../call.js";
import { runAsTenant, type TransactionSource } from "../postgres/run-transaction.js";
import { isStillAwaited, isStillExpired } from "../postgres/tables/time-events/outdated-events.js";
import type { DeliveryRecord } from "../postgres/tables/webhooks/webhook-deliveries.js";
import { localDateAt } from "../scheduling/local-clock.js";
import { DELIVERY_LIMITS } from "./delivery-limits.js";
import type { JudgeDelivery } from "./delivery-ports.js";

type Holds = (transaction: Transaction, delivery: DeliveryRecord, nowMs: number) => Promise<boolean>;

const isAwaited: Holds = (transaction, { resourceId, resourceVersion = 0 }) =>
  isStillAwaited(transaction, resourceId, resourceVersion);

/**
 * Maps an event type to a function that returns whether an event of this type still applies. Events of a type without
 * an entry always apply.
 */
const HOLDS: ReadonlyMap<string, Holds> = new Map([
  ["cupo.appointment.reminder_due", isAwaited],
  ["cupo.appointment.no_show_due", isAwaited],
  [
    "cupo.waitlist_entry.expired",
    (transaction, { resourceId }, nowMs) => isStillExpired(transaction, resourceId, localDateAt(nowMs)),
  ],
]);

/**
 * Returns a function that drops outdated events of three types:
 * - `reminder_due` and `no_show_due`: dropped if the start of the appointment has changed since the event, or the
 *   appointment is no longer pending or confirmed
 * - `expired`: dropped if the waitlist entry was closed, or its last date has not passed yet
 *
 * `now` returns milliseconds since the epoch.
 */
export function createTimeEventJudge(database: TransactionSource, now: () => number): JudgeDelivery {
  return async (delivery, tenantId) => {
    const holds = HOLDS.get(delivery.eventType);
    if (holds === undefined) return "SEND";
    const isTrue = await runAsTenant(database, tenantId, DELIVERY_LIMITS, (transaction) =>
      holds(transaction, delivery, now()),
    );
    return isTrue ? "SEND" : "DROP";
  };
}
