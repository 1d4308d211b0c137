import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AppointmentFilter } from "../../src/postgres/tables/appointments/appointment-filter.js";
import {
  type ListedAppointment,
  listAppointments,
  listDisplacedAppointments,
} from "../../src/postgres/tables/appointments/appointment-lists.js";
import { transactionOn } from "../support/client-transaction.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { fillSchedule, numbered } from "./schedule-fill.js";

const tenantId = randomUUID();
const SERIES = numbered(1);
/** The start of the first retained slots of two appointments; the second one also has later retained slots. */
const [DAY_START, LATER] = [at("2030-01-07", "08:00"), at("2030-01-07", "11:20")];

/** Appointments at three locations, of three services, with notes of a series, and with several retained slots. */
const VARIED = [
  `UPDATE appointments SET location_id = (SELECT location_id FROM programs p WHERE p.id = program_id),
     service_id = ('00000000-0000-7000-8000-00000000000' || 1 + right(id::text, 12)::integer / 10 % 3)::uuid`,
  `UPDATE appointments SET series_id = '${SERIES}' WHERE right(id::text, 12)::integer % 4 = 0`,
  `UPDATE slots SET retained = true, retained_by = 'RULES' WHERE appointment_id IS NOT NULL AND starts_at >= '2030-01-07'
     AND right(id::text, 12)::integer / 10 % 2 = 0`,
  `INSERT INTO slots (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation, retained,
     retained_by, retention_accepted, appointment_id)
   SELECT tenant_id, gen_random_uuid(), program_id, rule_id, practitioner_id, local_date, starts_at + more * interval '1 day',
     ends_at + more * interval '1 day', 1, true, 'RULES', false, appointment_id
   FROM slots, generate_series(1, 2) AS more WHERE retained`,
];

interface Row {
  readonly id: string;
  readonly patient_id: string;
  readonly practitioner_id: string;
  readonly program_id: string;
  readonly location_id: string;
  readonly service_id: string;
  readonly series_id: string | null;
  readonly status: string;
  readonly starts_at: Date;
  /** The starts of the retained slots, ordered. */
  readonly retained: readonly Date[];
}

let database: TestDatabase;
let client: Client;
const transaction = transactionOn(() => client, tenantId);
let rows: readonly Row[];

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.url);
  await client.connect();
  await client.query(`SET cupo.tenant_id = '${tenantId}'`);
  const filled = fillSchedule(tenantId, { slotsAhead: 700, slotsBehind: 100 });
  for (const statement of [...filled, ...VARIED]) await client.query(statement);
  const found = await client.query<Row>(
    `SELECT a.*, ARRAY(SELECT s.starts_at FROM slots s WHERE s.appointment_id = a.id AND s.retained ORDER BY 1) AS retained
     FROM appointments a`,
  );
  rows = found.rows;
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

const ANY: AppointmentFilter = {
  practitionerIds: [],
  locationIds: [],
  serviceIds: [],
  statuses: [],
  patientId: undefined,
  practitionerId: undefined,
  programId: undefined,
  locationId: undefined,
  displaced: undefined,
  seriesId: undefined,
  from: undefined,
  before: undefined,
};

test.each<[Partial<AppointmentFilter>]>([
  [{}],
  [{ practitionerId: numbered(3) }],
  [{ programId: numbered(4) }],
  [{ locationId: numbered(2) }],
  [{ practitionerIds: [numbered(1), numbered(10)], statuses: ["PENDING", "ATTENDED"] }],
  [{ locationIds: [numbered(1), numbered(3)] }],
  [{ serviceIds: [numbered(2)], locationIds: [numbered(1)] }],
  [{ statuses: ["CONFIRMED"] }],
  [{ seriesId: SERIES }],
  [{ from: DAY_START }],
  [{ before: DAY_START }],
  [{ from: DAY_START, before: LATER }],
  [{ displaced: true }],
  [{ displaced: false }],
  [{ displaced: true, seriesId: SERIES }],
  [{ displaced: false, seriesId: SERIES, from: DAY_START }],
  [{ displaced: true, practitionerId: numbered(1) }],
  [{ displaced: true, practitionerIds: [numbered(2), numbered(10)] }],
  [{ displaced: true, programId: numbered(3) }],
  [{ displaced: true, locationId: numbered(2) }],
  [{ displaced: true, locationIds: [numbered(1)], serviceIds: [numbered(2)] }],
  [{ displaced: true, locationIds: [numbered(1)], statuses: ["CONFIRMED", "CHECKED_IN"] }],
  [{ displaced: true, locationIds: [numbered(1)], serviceIds: [numbered(2)], statuses: ["CONFIRMED", "PENDING"] }],
  [{ displaced: true, statuses: ["CHECKED_IN", "PENDING"] }],
  [{ displaced: true, from: DAY_START }],
  [{ displaced: true, from: LATER, before: at("2030-01-08", "11:20") }],
  [{ displaced: true, serviceIds: [numbered(1)], from: LATER }],
])("a list with %o has all matching appointments once, in order", async (changes) => {
  const filter = { ...ANY, ...changes };
  const listed = await walk((page) => listAppointments(transaction, filter, page));
  const expected = rows
    .map((row) => ({ row, listedAt: listedAt(row, filter) }))
    .filter((each) => matches(each, filter));
  expect(expected.length).toBeGreaterThan(0);
  expect(listed).toEqual(ordered(expected));
});

test.each<[{ from: Date; to?: Date }]>([
  [{ from: at("2030-01-01", "00:00") }],
  [{ from: DAY_START, to: LATER }],
  [{ from: LATER, to: at("2030-01-08", "11:20") }],
])("a list of displaced appointments with %o has each once, at its first retained slot of the time", async (range) => {
  const { from, to } = range;
  const equal = { cause: undefined, blockId: undefined, programId: undefined, practitionerId: undefined };
  const filter = { ...equal, from, to, includesAccepted: true };
  const listed = await walk((page) => listDisplacedAppointments(transaction, filter, page));
  const all = rows.map((row) => ({ row, listedAt: row.retained.find((start) => start >= from) }));
  const expected = all.filter((each) => each.listedAt !== undefined && (to === undefined || each.listedAt < to));
  expect(expected.length).toBeGreaterThan(0);
  expect(listed).toEqual(ordered(expected));
});

/** Returns the time by which the list is ordered; undefined if the appointment has no retained slot of the time. */
function listedAt(row: Row, { displaced, seriesId, from }: AppointmentFilter): Date | undefined {
  if (displaced !== true || seriesId !== undefined) return row.starts_at;
  return row.retained.find((start) => from === undefined || start >= from);
}

function matches(
  { row, listedAt: time }: { row: Row; listedAt: Date | undefined },
  filter: AppointmentFilter,
): boolean {
  const isAmong = (list: readonly string[], value: string) => list.length === 0 || list.includes(value);
  const isEqual = (wanted: string | undefined, value: string | null) => wanted === undefined || wanted === value;
  return (
    time !== undefined &&
    (filter.from === undefined || time >= filter.from) &&
    (filter.before === undefined || time < filter.before) &&
    isEqual(filter.practitionerId, row.practitioner_id) &&
    isEqual(filter.programId, row.program_id) &&
    isEqual(filter.locationId, row.location_id) &&
    isEqual(filter.seriesId, row.series_id) &&
    isAmong(filter.practitionerIds, row.practitioner_id) &&
    isAmong(filter.locationIds, row.location_id) &&
    isAmong(filter.serviceIds, row.service_id) &&
    isAmong(filter.statuses, row.status) &&
    (filter.displaced === undefined || filter.displaced === row.retained.length > 0)
  );
}

function ordered(found: readonly { row: Row; listedAt: Date | undefined }[]): string[] {
  return found.map(({ row, listedAt: time }) => `${time?.toISOString()} ${row.id}`).toSorted();
}

type Page = Parameters<typeof listAppointments>[2];

/** Returns the times and ids of all pages. */
async function walk(list: (page: Page) => Promise<ListedAppointment[]>): Promise<string[]> {
  const listed: string[] = [];
  for (let after: Page["after"]; ; ) {
    const page = await list({ after, limit: 20 });
    listed.push(...page.map((each) => `${each.listedAt.toISOString()} ${each.id}`));
    const last = page.at(-1);
    if (last === undefined) return listed;
    after = { startsAt: last.listedAt, id: last.id };
  }
}

function at(date: string, time: string): Date {
  return new Date(`${date}T${time}:00-05:00`);
}
