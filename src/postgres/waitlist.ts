import type { Transaction } from "../call.js";
import { sql } from "./sql.js";

/** Preferences of a patient who waits for an appointment, as they are kept. Dates are local, YYYY-MM-DD. */
export interface WaitlistEntryRecord {
  readonly id: string;
  readonly patientId: string;
  readonly serviceId: string;
  readonly dateFrom: string;
  readonly dateTo: string;
  readonly preferredPeriods: readonly string[];
  readonly locationId: string | undefined;
  readonly practitionerId: string | undefined;
  readonly status: "ACTIVE" | "RECEIVED" | "OPEN";
  readonly createdAt: Date;
}

/** Adds an entry. */
export function sendWaitlistEntry(transaction: Transaction, entry: WaitlistEntryRecord): void {
  transaction.send(
    sql("waitlist_entries").insert({
      tenant_id: transaction.tenantId,
      id: entry.id,
      patient_id: entry.patientId,
      service_id: entry.serviceId,
      date_from: entry.dateFrom,
      date_to: entry.dateTo,
      preferred_periods: entry.preferredPeriods,
      location_id: entry.locationId ?? null,
      practitioner_id: entry.practitionerId ?? null,
      status: entry.status,
      created_at: entry.createdAt,
    }),
  );
}
