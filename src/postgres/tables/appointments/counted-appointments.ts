import { isDeepStrictEqual } from "node:util";
import type { Call, Transaction } from "../../../call.js";
import { localDateAt } from "../../../scheduling/local-clock.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { isLive } from "./appointment-status.js";
import type { AppointmentRecord } from "./appointments.js";

/** The columns of `opportunity_changes` that have the values of an appointment ({@link counted}). */
export const countedColumns = [
  "service_id",
  "location_id",
  "program_id",
  "payer_id",
  "first_visit",
  "requested_on",
  "assigned_on",
  "local_date",
  "outcome",
  "late",
  "booked_minutes",
] as const;

/** The columns of `opportunity_changes`, except the tenant. */
export const countColumns = ["id", "appointment_id", "change", ...countedColumns] as const;

const NOT_KNOWN = "00000000-0000-0000-0000-000000000000";

type CountRow = Readonly<Record<(typeof countColumns)[number], unknown>>;

/**
 * The statements that insert into `opportunity_changes`. The first inserts one row, for a new appointment. The second
 * inserts two rows, for a changed appointment: one row subtracts the old values, the other adds the new values.
 */
const inserts = [1, 2].map((count) => {
  const rows = Array.from({ length: count }, (_, row) =>
    countColumns.map((column) => ({ column, name: nameOf(column, row) })),
  );
  return prepared(["tenant_id", ...rows.flat().map(({ name }) => name)], (names) => {
    const tenant = ["tenant_id", names["tenant_id"]] as const;
    const bound = rows.map((row) => row.map(({ column, name }) => [column, names[name]] as const));
    return sql("opportunity_changes").insert(bound.map((row) => Object.fromEntries([tenant, ...row])));
  });
});

/**
 * Records a new or changed appointment in `opportunity_changes`, one of the tables from which the indicators of
 * opportunity are computed. Appends nothing if the counted values (see {@link counted}) do not change. `before` is
 * undefined for a new appointment.
 */
export function insertCounts(
  transaction: Transaction,
  before: AppointmentRecord | undefined,
  after: AppointmentRecord,
  call: Pick<Call, "newId">,
): void {
  const rows = countsOf(before, after, call);
  const values: Record<string, unknown> = { tenant_id: transaction.tenantId };
  for (const [index, row] of rows.entries())
    for (const column of countColumns) values[nameOf(column, index)] = row[column];
  const insert = inserts[rows.length - 1];
  if (insert !== undefined) transaction.send(insert(values));
}

function nameOf(column: string, row: number): string {
  return `${column}_${row}`;
}

/**
 * Returns the rows that {@link insertCounts} appends. A new appointment has one row, with `change` 1. A changed
 * appointment has two rows: the values of `before` with `change` -1, then the values of `after` with `change` 1.
 * Returns no rows if the values of `before` and `after` are equal.
 */
export function countsOf(
  before: AppointmentRecord | undefined,
  after: AppointmentRecord,
  { newId }: Pick<Call, "newId">,
): readonly CountRow[] {
  const [was, is] = [before && counted(before), counted(after)];
  if (isDeepStrictEqual(was, is)) return [];
  const added = { id: newId(), appointment_id: after.id, change: 1, ...is };
  return was === undefined ? [added] : [{ id: newId(), appointment_id: after.id, change: -1, ...was }, added];
}

/**
 * Returns the values that `COUNTED_APPOINTMENTS` of `tables/opportunity/summary-cells.ts` selects for the appointment.
 * `local_date` is the exact date only for an attended appointment. For others, it is the first day of the month,
 * because the indicators need only the month.
 */
function counted(appointment: AppointmentRecord): Readonly<Record<(typeof countedColumns)[number], unknown>> {
  const { status, overbooked, startsAt, endsAt, localDate, dueOn, createdAt } = appointment;
  const createdOn = localDateAt(createdAt.getTime());
  const outcome = status === "ATTENDED" || status === "NO_SHOW" ? status : "OTHER";
  return {
    service_id: appointment.serviceId,
    location_id: appointment.locationId,
    program_id: appointment.programId,
    payer_id: appointment.payerId ?? NOT_KNOWN,
    first_visit: appointment.firstVisit ?? false,
    requested_on: appointment.requestedOn ?? createdOn,
    assigned_on: appointment.assignedOn ?? createdOn,
    local_date: outcome === "ATTENDED" ? localDate : `${localDate.slice(0, 7)}-01`,
    outcome,
    late: dueOn !== undefined && localDate > dueOn && status !== "CANCELLED",
    booked_minutes: isLive(status) && !overbooked ? (endsAt.getTime() - startsAt.getTime()) / 60_000 : 0,
  };
}
