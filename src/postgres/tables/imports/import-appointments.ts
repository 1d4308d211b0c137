import type { Call, Transaction } from "../../../call.js";
import { toRow } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { type AppointmentChangeRecord, changeColumns } from "../appointments/appointment-history.js";
import { type AppointmentRecord, appointmentColumns } from "../appointments/appointments.js";
import { busyTime } from "../appointments/busy-times.js";
import { countColumns, countsOf } from "../appointments/counted-appointments.js";
import { bulkInsert, fromRows, type LockedSource } from "./bulk-insert.js";

const insertRows = bulkInsert("appointments", Object.values(appointmentColumns));
const insertChangeRows = bulkInsert("appointment_history", Object.values(changeColumns));
const insertCountRows = bulkInsert("opportunity_changes", countColumns);

/**
 * Inserts appointments and the first entries of their histories. Also inserts their rows in `opportunity_changes`, from
 * which the service computes how long patients waited for appointments.
 */
export function insertAppointments(
  transaction: Transaction,
  source: LockedSource,
  appointments: readonly AppointmentRecord[],
  changes: readonly AppointmentChangeRecord[],
  call: Pick<Call, "newId">,
): void {
  const rows = appointments.map((appointment) => toRow(appointmentColumns, appointment));
  const changeRows = changes.map((change) => toRow(changeColumns, change));
  transaction.send(insertRows(source, rows));
  transaction.send(insertChangeRows(source, changeRows));
  const countRows = appointments.flatMap((appointment) => countsOf(undefined, appointment, call));
  transaction.send(insertCountRows(source, countRows));
}

/** Locks programs FOR SHARE, in the order of their ids, so that they do not change until the transaction ends. */
export function sharePrograms(transaction: Transaction, ids: readonly string[]): void {
  const programs = sql("programs").where({ tenant_id: transaction.tenantId });
  transaction.send(
    programs
      .whereRaw("id = ANY(?::uuid[])", [ids as string[]])
      .orderBy("id")
      .select("id")
      .forShare(),
  );
}

/**
 * Locks practitioners, in the order of their ids, until the transaction ends. Other calls cannot book them meanwhile.
 */
export function lockPractitioners(transaction: Transaction, ids: readonly string[]): void {
  const practitioners = sql("practitioners").where({ tenant_id: transaction.tenantId });
  transaction.send(
    practitioners
      .whereRaw("id = ANY(?::uuid[])", [ids as string[]])
      .orderBy("id")
      .select("id")
      .forNoKeyUpdate(),
  );
}

/** A program and one of its members: a healthcare service that it offers or a practitioner who works in it. */
export interface Pair {
  readonly programId: string;
  readonly memberId: string;
}

/**
 * Returns the members of these programs, in no order. `table` determines whether the members are healthcare services or
 * practitioners.
 */
export async function findMembers(
  transaction: Transaction,
  table: "program_services" | "program_practitioners",
  programIds: readonly string[],
): Promise<readonly Pair[]> {
  const member = table === "program_services" ? "service_id" : "practitioner_id";
  const members = sql(table).where({ tenant_id: transaction.tenantId });
  return transaction.rows(
    members
      .whereRaw("program_id = ANY(?::uuid[])", [programIds as string[]])
      .select({ programId: "program_id", memberId: member }),
  );
}

/**
 * A time range to check for a patient or practitioner. `position` identifies the time range in the result of
 * {@link findBusyTimes}.
 */
export interface PersonTime {
  readonly position: number;
  readonly personId: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
}

const findBusy = {
  patient_id: busyQuery("patient_id"),
  practitioner_id: busyQuery("practitioner_id"),
} as const;

/**
 * Returns the `position` of each time range that overlaps an appointment or a live hold of its person. A live hold has
 * neither ended nor expired. Appointments with status CANCELLED or NO_SHOW do not count. For a patient, an appointment
 * counts until the visit ends, without the buffer after it.
 */
export async function findBusyTimes(
  transaction: Transaction,
  source: LockedSource,
  person: keyof typeof findBusy,
  times: readonly PersonTime[],
  nowMs: number,
): Promise<ReadonlySet<number>> {
  if (times.length === 0) return new Set();
  const statement = findBusy[person]({ ...source, rows: JSON.stringify(times), now: new Date(nowMs) });
  const rows = await transaction.rows<{ position: number }>(statement);
  return new Set(rows.map(({ position }) => position));
}

function busyQuery(person: "patient_id" | "practitioner_id") {
  const times = `jsonb_to_recordset(:rows::jsonb)
    AS r (position integer, "personId" uuid, "startsAt" timestamptz, "endsAt" timestamptz)`;
  const operands = { startsAt: 'r."startsAt"', endsAt: 'r."endsAt"', exceptId: "NULL", now: ":now::timestamptz" };
  const busy = busyTime(person, { tenantId: ":tenantId", personId: 'r."personId"', ...operands });
  return prepared(["tenantId", "sourceSystem", "rows", "now"], (names) =>
    sql.raw(`SELECT r.position ${fromRows(times)} AND EXISTS (${busy})`, names),
  );
}
