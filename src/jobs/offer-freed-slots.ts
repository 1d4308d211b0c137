import type { Transaction } from "../call.js";
import { CupoError } from "../errors.js";
import { isOlderServing } from "../postgres/migration/older-serving.js";
import { runAsActiveTenant, type TransactionSource } from "../postgres/run-transaction.js";
import { type FreedSlotKey, findDueFreedSlots } from "../postgres/tables/schedule/freed-slots.js";
import { findInactiveTenants } from "../postgres/tables/tenants/erasure.js";
import { offerFreedSlot } from "../services/holds/offer-freed-slot.js";
import { runForEach } from "./run-for-each.js";

const LIMITS = { statementTimeoutMs: 10_000, lockTimeoutMs: 2_000, idleTimeoutMs: 5_000 };
/** The maximum number of slots that one run offers. The next run offers the rest. */
const MOST = 1_000;
/** The migration that added offers. Releases without it do not know offers. */
const KNOWN_SINCE = "0046-offers";

/** Dependencies of {@link offerFreedSlots}. */
export interface OfferPorts {
  readonly database: TransactionSource;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  /** Called after a commit that added events to the feed of the tenant. */
  readonly onCommitted?: ((tenantId: string) => void) | undefined;
}

/**
 * Offers up to 1,000 freed slots of all active tenants to patients on the waitlists, each slot in its own transaction.
 * Offers only due slots: slots whose due time in the table `freed_slots` has passed. Returns the number of offers.
 *
 * - If a run is interrupted, the next run continues, because a slot stays due until its transaction commits.
 * - Of two runs at the same time, one offers a slot, and the other finds that the slot is held.
 * - While an older release that does not know offers serves the database, nothing is offered.
 * - If a slot or patient changes during the run, the slot stays due until the next run.
 * - If an offer fails for another reason, the run continues and throws the first such error at the end.
 * - An aborted signal stops the run after the current transaction.
 */
export async function offerFreedSlots(ports: OfferPorts, signal?: AbortSignal): Promise<number> {
  const { database, now } = ports;
  if (await isOlderServing(database, KNOWN_SINCE)) return 0;
  let offers = 0;
  const inactive = await findInactiveTenants(database);
  const offer = async ({ tenantId, slotId }: FreedSlotKey) => {
    try {
      const work = (transaction: Transaction) => offerFreedSlot(transaction, slotId, now());
      if (!(await runAsActiveTenant(database, tenantId, LIMITS, work))) return;
      offers += 1;
      ports.onCommitted?.(tenantId);
    } catch (error) {
      if (!(error instanceof CupoError)) throw error;
    }
  };
  await runForEach(await findDueFreedSlots(database, new Date(now()), MOST, inactive), offer, signal);
  return offers;
}
