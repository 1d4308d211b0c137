import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Principal, Statement, Transaction } from "../../src/call.js";
import type { AppointmentFilter } from "../../src/postgres/tables/appointments/appointment-filter.js";
import { listAppointmentChanges } from "../../src/postgres/tables/appointments/appointment-history.js";
import {
  listAppointments,
  listDisplacedAppointments,
} from "../../src/postgres/tables/appointments/appointment-lists.js";
import type { AppointmentStatus } from "../../src/postgres/tables/appointments/appointment-status.js";
import { findAppointment } from "../../src/postgres/tables/appointments/appointments.js";
import { isBusy } from "../../src/postgres/tables/appointments/busy-times.js";
import type { OptionQuery } from "../../src/postgres/tables/appointments/free-slots.js";
import { type OccupancyQuery, readOccupancy } from "../../src/postgres/tables/appointments/occupancy.js";
import { searchOptions } from "../../src/postgres/tables/appointments/option-search.js";
import { listOpportunityBreaches } from "../../src/postgres/tables/opportunity/opportunity-breaches.js";
import { noteFreedSlots } from "../../src/postgres/tables/schedule/freed-slots.js";
import { lockSlots } from "../../src/postgres/tables/schedule/slot-locks.js";
import { findOccupiedSlots, findSlotAt } from "../../src/postgres/tables/schedule/slots.js";
import { dayPeriods } from "../../src/scheduling/day-periods.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { compareDay } from "./compared-day.js";
import { expectFewBlocks, expectFewBlocksOfOne } from "./explained-reads.js";
import {
  CHANGES,
  FIRST_START,
  fillBlocks,
  fillSchedule,
  numbered,
  PROGRAMS,
  SLOTS_A_DAY,
  staffOf,
} from "./schedule-fill.js";

/**
 * Number of future slots, nine in ten of them free. SCHEDULE_PLAN_SLOTS=1000000 is the size that the service is
 * designed for.
 */
const SLOTS = Number(process.env["SCHEDULE_PLAN_SLOTS"] || 20_000);
const size = { slotsAhead: SLOTS, slotsBehind: SLOTS / 4 };
const FILL_TIMEOUT_MS = 60_000 + SLOTS / 2;
/** The default page size, and one row to detect a next page. */
const LIMIT = 51;
const PAGE = { blocks: 20 * LIMIT, rows: 20 * LIMIT };
/** Limits of a read by id, or of one person's day. */
const ONE = { blocks: 60, rows: 60 };
/** Limits of all statements of a search, which checks slots one by one. */
const SEARCH = { blocks: 40 * LIMIT, rows: 20 * LIMIT };
const LARGE_TABLES = new Set(["slots", "appointments", "appointment_history_first", "day_counters", "schedule_blocks"]);

const tenantId = randomUUID();
const start = new Date(FIRST_START);
const caller = { id: "issuer client", issuer: "issuer", clientId: "client", scopes: new Set<string>() };
const principal: Principal = { ...caller, tenantId, organizationId: undefined, companyId: undefined };

const ANY: AppointmentFilter = {
  practitionerIds: [],
  locationIds: [],
  serviceIds: [],
  patientId: undefined,
  practitionerId: undefined,
  programId: undefined,
  locationId: undefined,
  statuses: [],
  displaced: undefined,
  seriesId: undefined,
  from: undefined,
  before: undefined,
};

const STATUSES: readonly (readonly AppointmentStatus[])[] = [
  ["PENDING"],
  ["CHECKED_IN", "NO_SHOW"],
  ["PENDING", "CONFIRMED", "CANCELLED"],
];

/** All combinations of these filters, each present or absent. All future appointments of the program are displaced. */
const combinations = [
  [{ patientId: numbered(1) }],
  [{ practitionerId: numbered(staffOf(size)) }],
  [{ programId: numbered(PROGRAMS) }],
  [{ locationId: numbered(1) }],
  STATUSES.map((statuses) => ({ statuses })),
  [{ displaced: true }, { displaced: false }],
  [1, 366].map((days) => ({ from: start, before: new Date(start.getTime() + days * 86_400_000) })),
].reduce<readonly Partial<AppointmentFilter>[]>(
  (all, choices) => all.flatMap((filter) => [filter, ...choices.map((choice) => ({ ...filter, ...choice }))]),
  [{}],
);

const filters = combinations.filter(({ programId, displaced }) => programId === undefined || displaced !== false);

let database: TestDatabase;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  await leaveTablesAlone();
  client = new Client(database.url);
  await client.connect();
  for (const [tenant, tenantSize] of [
    [randomUUID(), { slotsAhead: SLOTS / 5, slotsBehind: SLOTS / 5 }],
    [tenantId, size],
  ] as const) {
    await client.query(`SET cupo.tenant_id = '${tenant}'`);
    for (const statement of fillSchedule(tenant, tenantSize)) await client.query(statement);
  }
  await execute(database.ownerUrl, "VACUUM ANALYZE");
}, FILL_TIMEOUT_MS);

afterAll(async () => {
  await client.end();
  await database.drop();
});

describe(`among ${SLOTS} slots, a page of options`, () => {
  const { MORNING, NIGHT } = dayPeriods;

  test.each<[string, Partial<OptionQuery>]>([
    ["of all", {}],
    ["of a practitioner", { practitionerId: numbered(2) }],
    ["at a location", { locationId: numbered(2) }],
    ["at some times of day", { windows: MORNING }],
    ["without any results", { windows: NIGHT }],
    ["of a practitioner, at a location, at some times", { practitionerId: numbered(2), windows: MORNING }],
    ["of an hour each, three slots long", { minutes: 60 }],
    ["of a practitioner, an hour each", { practitionerId: numbered(2), minutes: 60 }],
    ["for an appointment", { appointmentId: numbered(1), heldDay: { ruleId: numbered(1), localDate: "2030-01-08" } }],
  ])("%s, and the next, read few blocks", async (_, changes) => {
    const query = { ...weekOfOptions(), ...changes };
    const first = await searched(query);
    const last = first.at(-1);
    expect(first).toHaveLength(changes.windows === NIGHT ? 0 : LIMIT);
    const second = await searched({ ...query, after: last && { startsAt: last.startsAt, id: last.slotId } });
    expect(second.map(({ slotId }) => slotId).filter((id) => first.some(({ slotId }) => slotId === id))).toEqual([]);
  });
});

test.each<[string, Partial<OptionQuery>]>([
  ["of all", {}],
  ["of a practitioner", { practitionerId: numbered(2) }],
  ["at some times of day", { windows: dayPeriods.MORNING }],
])("a page of options %s takes one statement", async (_, changes) => {
  const statements: Statement[] = [];
  const query = { ...weekOfOptions(), ...changes };
  const options = await fewBlocks("auto", SEARCH, (transaction) => {
    const rows: Transaction["rows"] = (statement) => {
      statements.push(statement);
      return transaction.rows(statement);
    };
    return searchOptions({ ...transaction, rows }, principal, query);
  });
  expect([options.length, statements.length]).toEqual([LIMIT, 1]);
});

test("a search at a time of day without a rule asks for the rules once, not for each of 90 days", async () => {
  const to = new Date(start.getTime() + 90 * 86_400_000);
  const query = { ...weekOfOptions(), to, windows: dayPeriods.NIGHT };
  const fewest = { blocks: 12 * PROGRAMS, rows: PROGRAMS };
  expect(await fewBlocks("auto", fewest, (transaction) => searchOptions(transaction, principal, query))).toEqual([]);
});

describe.each(["force_custom_plan", "force_generic_plan"])(
  `among ${SLOTS} slots and their appointments, by %s,`,
  (mode) => {
    test.each(filters)("a page of appointments with %o reads few blocks", async (filter) => {
      for (const after of [undefined, { startsAt: new Date(start.getTime() + 3_600_000), id: numbered(1) }]) {
        await fewBlocksOfOne(mode, PAGE, (transaction) =>
          listAppointments(transaction, { ...ANY, ...filter }, { after, limit: LIMIT }),
        );
      }
    });

    test.each<AppointmentStatus>(["CHECKED_IN", "ATTENDED", "CANCELLED", "NO_SHOW"])(
      "a page of appointments of a program that are %s reads few blocks",
      async (status) => {
        const filter = { ...ANY, programId: numbered(2), statuses: [status] };
        const page = { after: undefined, limit: LIMIT };
        await fewBlocksOfOne(mode, PAGE, (transaction) => listAppointments(transaction, filter, page));
      },
    );

    test.each([undefined, { startsAt: new Date(start.getTime() + 86_400_000), id: numbered(1) }])(
      "a page of displaced appointments after %o reads few blocks",
      async (after) => {
        const page = { after, limit: LIMIT };
        const anything = { cause: undefined, blockId: undefined, practitionerId: undefined, includesAccepted: true };
        for (const programId of [undefined, numbered(PROGRAMS)]) {
          const filter = { ...anything, programId, from: start, to: undefined };
          await fewBlocksOfOne(mode, PAGE, (transaction) => listDisplacedAppointments(transaction, filter, page));
        }
      },
    );

    test.each([undefined, { dueOn: "2030-01-20", id: numbered(1) }])(
      "a page of opportunity breaches after %o reads few blocks",
      async (after) => {
        const query = { today: "2030-01-30", dueFrom: undefined, dueTo: undefined, serviceId: undefined };
        await fewBlocksOfOne(mode, PAGE, (transaction) =>
          listOpportunityBreaches(transaction, { ...query, after, limit: LIMIT }),
        );
      },
    );

    test.each([0, CHANGES / 2])(
      "a page of an appointment's changes after version %i reads few blocks",
      async (afterVersion) => {
        const page = { afterVersion, limit: LIMIT };
        await fewBlocksOfOne(mode, PAGE, (transaction) => listAppointmentChanges(transaction, numbered(1), page));
      },
    );

    test("the reads by id of a booking read few blocks", async () => {
      const [run, occupiedBy] = [{ firstSlotId: numbered(SLOTS), minutes: 60 }, numbered(SLOTS / 8)];
      await fewBlocksOfOne(mode, ONE, (transaction) => lockSlots(transaction, { run }));
      await fewBlocksOfOne(mode, ONE, (transaction) => lockSlots(transaction, { occupiedBy }));
      await fewBlocksOfOne(mode, ONE, (transaction) => lockSlots(transaction, { run, occupiedBy }));
      const place = { programId: numbered(PROGRAMS), practitionerId: numbered(staffOf(size)) };
      await fewBlocksOfOne(mode, ONE, (transaction) => findSlotAt(transaction, place, { at: start }));
      await fewBlocksOfOne(mode, ONE, (transaction) => findOccupiedSlots(transaction, occupiedBy));
      await fewBlocksOfOne(mode, ONE, (transaction) => findAppointment(transaction, occupiedBy));
    });

    test.each([{ patientId: numbered(1) }, { practitionerId: numbered(staffOf(size)) }])(
      "the check whether %o is busy at a time reads few blocks",
      async (who) => {
        const time = { startsAt: start, endsAt: new Date(start.getTime() + 1_200_000) };
        await fewBlocks(mode, ONE, (transaction) => isBusy(transaction, who, time, undefined, start.getTime()));
      },
    );
  },
);

test.each<[readonly string[], () => Promise<unknown>]>([
  [["slots_program_idx"], () => fewBlocks("auto", PAGE, (transaction) => compareDay(transaction, numbered(2), start))],
  [["slots_free_idx", "slots_program_idx"], () => searched(weekOfOptions())],
  [
    ["slots_appointment_idx"],
    () => fewBlocks("auto", ONE, (transaction) => findOccupiedSlots(transaction, numbered(SLOTS / 8))),
  ],
])("a schedule without its %s is detected", async (indexes, read) => {
  await read();
  const made = await execute(
    database.ownerUrl,
    `SELECT indexdef FROM pg_indexes WHERE indexname = ANY('{${indexes.join()}}')`,
  );
  await execute(database.ownerUrl, `DROP INDEX ${indexes.join()}`);
  try {
    await expect(read()).rejects.toThrow("expected");
  } finally {
    await execute(database.ownerUrl, ...made.map(({ indexdef }) => String(indexdef)));
  }
  await read();
});

const noFilter = { programId: undefined, practitionerId: undefined, locationId: undefined };

describe.each(["force_custom_plan", "force_generic_plan"])(
  `among ${SLOTS} slots, and a block of each practitioner on each day of a year, by %s,`,
  (mode) => {
    beforeAll(async () => {
      for (const statement of fillBlocks(tenantId, size)) await client.query(statement);
      await execute(database.ownerUrl, "ANALYZE schedule_blocks, program_practitioners");
    });

    test.each<[string, Partial<OccupancyQuery>]>([
      ["a program", { programId: numbered(2) }],
      ["a practitioner in a program", { programId: numbered(2), practitionerId: numbered(2) }],
      ["a practitioner", { practitionerId: numbered(2) }],
      ["all programs", {}],
    ])("the occupancy of a day of %s is read by program and start", async (_, filter) => {
      const perDay = (filter.programId === undefined ? PROGRAMS : 1) * Math.ceil(staffOf(size) / PROGRAMS) * 24;
      const day = { blocks: 60 * PROGRAMS + 3 * perDay, rows: 3 * perDay };
      const query = { from: start, to: dayAfter(start), now: start, limit: 10_001, ...noFilter, ...filter };
      const rows = await fewBlocks(mode, day, (transaction) => readOccupancy(transaction, principal, query));
      expect(rows.filter(({ blockedMinutes }) => blockedMinutes > 0)).not.toEqual([]);
    });

    test.each(["NULL", "5"])("free slots offered in %s minutes are noted by few blocks", async (minutes) => {
      await client.query(`UPDATE tenant_settings SET freed_slot_offer_minutes = ${minutes}`);
      const time = { practitionerId: numbered(2), startsAt: start, endsAt: dayAfter(start) };
      await fewBlocksOfOne(mode, { blocks: 60 * SLOTS_A_DAY, rows: 2 * SLOTS_A_DAY }, async (transaction) => {
        const noted: Promise<unknown>[] = [];
        const send = (statement: Statement) => void noted.push(transaction.rows(statement));
        noteFreedSlots({ ...transaction, send }, [time]);
        await Promise.all(noted);
      });
    });
  },
);

/**
 * Turns autovacuum off for large tables. Another transaction during this test's VACUUM keeps pages from becoming
 * all-visible.
 */
async function leaveTablesAlone() {
  for (const table of LARGE_TABLES) {
    await execute(database.ownerUrl, `ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
  }
}

function dayAfter(date: Date): Date {
  return new Date(date.getTime() + 86_400_000);
}

function weekOfOptions(): OptionQuery {
  return {
    patientId: numbered(1),
    appointmentId: undefined,
    heldDay: undefined,
    serviceId: numbered(1),
    minutes: undefined,
    visitMinutes: undefined,
    from: start,
    to: new Date(start.getTime() + 7 * 86_400_000),
    windows: [],
    locationId: undefined,
    practitionerId: undefined,
    includeEmergency: false,
    now: start,
    after: undefined,
    limit: LIMIT,
  };
}

/** Runs a read, and requires that it stays within the limits and uses indexes. Returns its result. */
function fewBlocks<T>(mode: string, most: typeof PAGE, read: (transaction: Transaction) => Promise<T>): Promise<T> {
  return expectFewBlocks({ client, tenantId, largeTables: LARGE_TABLES }, { mode, ...most }, read);
}

/** Requires that a read of one statement stays within the limits and uses indexes. */
function fewBlocksOfOne(
  mode: string,
  most: typeof PAGE,
  read: (transaction: Transaction) => Promise<unknown>,
): Promise<void> {
  return expectFewBlocksOfOne({ client, tenantId, largeTables: LARGE_TABLES }, { mode, ...most }, read);
}

/** Runs a search as the service does, which sets the plan mode itself. */
async function searched(query: OptionQuery) {
  return fewBlocks("auto", SEARCH, (transaction) => searchOptions(transaction, principal, query));
}
