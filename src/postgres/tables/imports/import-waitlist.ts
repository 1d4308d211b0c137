import type { Transaction } from "../../../call.js";
import { toRow } from "../../columns.js";
import { type WaitlistEntryRecord, waitlistColumns } from "../desk/waitlist.js";
import { bulkInsert, type LockedSource } from "./bulk-insert.js";

const insertRows = bulkInsert("waitlist_entries", Object.values(waitlistColumns));

/** Inserts open waitlist entries. */
export function insertWaitlistEntries(
  transaction: Transaction,
  source: LockedSource,
  entries: readonly WaitlistEntryRecord[],
): void {
  if (entries.length === 0) return;
  const rows = entries.map((entry) => toRow(waitlistColumns, entry));
  transaction.send(insertRows(source, rows));
}
