import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { statementsOfLastCall } from "../postgres/round-trips.js";
import { day } from "../schedule/clinic.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.js";
import { recordStatements, type SentStatement } from "../support/sent-statements.js";
import { startTestService, type TestService } from "../support/service.js";
import {
  appointmentRow,
  type ImportingClinic,
  importRows,
  openImportingClinic,
  patientRow,
} from "./rows-under-test.js";

let database: TestDatabase;
let proxy: PostgresProxy;
let service: TestService;
let takeSent: () => SentStatement[];
let clinic: ImportingClinic;
const knownRow = patientRow("P1");

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startPostgresProxy(database.url);
  takeSent = recordStatements(proxy);
  service = await startTestService({ DATABASE_URL: proxy.url });
  clinic = await openImportingClinic(service);
  await importRows(clinic, [knownRow]);
});

afterAll(async () => {
  await service.close();
  await proxy.close();
  await database.drop();
});

const TABLE = /\b(?:into|update|from|join|INTO|UPDATE|FROM|JOIN) "?((?!jsonb_|unnest|merged\b|set\b)[a-z_]+)/g;

/** Tables that every batch needs. */
const OF_BATCH = ["idempotency_keys", "import_sources", "imported_resources", "tenant_settings", "tenants"];
/** Tables of changes and their events. */
const OF_CHANGE = ["audit_events", "event_outbox"];
/** Tables that every appointment needs: those of its references, and of the people and slots of its time. */
const OF_APPOINTMENT = [
  "appointment_holds",
  "appointment_types",
  "appointments",
  "healthcare_services",
  "holidays",
  "locations",
  "opportunity_definitions",
  "patients",
  "practitioners",
  "program_practitioners",
  "program_services",
  "programs",
  "request_sources",
  "slots",
];
const OF_PAST = [...OF_APPOINTMENT, ...OF_CHANGE, "appointment_history", "opportunity_changes", "schedule_blocks"];
const OF_AHEAD = [
  ...OF_APPOINTMENT,
  ...OF_CHANGE,
  "appointment_history",
  "opportunity_changes",
  "day_counters",
  "program_rules",
];
const OF_PATIENT = [...OF_CHANGE, "patient_consents", "patient_search_words", "patients"];
const OF_WAIT = [
  ...OF_CHANGE,
  "healthcare_services",
  "holidays",
  "opportunity_definitions",
  "patients",
  "waitlist_entries",
];

test.each<[string, readonly [trips: number, statements: number], readonly string[], () => JsonObject]>([
  [
    "location",
    [4, 15],
    [...OF_CHANGE, "locations"],
    () => ({ sourceId: "L1", location: { code: "L1", name: "Sede", active: true } }),
  ],
  [
    "service",
    [4, 15],
    [...OF_CHANGE, "healthcare_services"],
    () => ({ sourceId: "S1", service: { code: "S1", name: "S", active: true } }),
  ],
  ["patient", [4, 17], OF_PATIENT, () => patientRow("P2")],
  ["past appointment", [7, 33], OF_PAST, () => appointmentRow(clinic, "A1")],
  ["appointment ahead", [8, 38], OF_AHEAD, () => ahead("A2", "08:00")],
  ["waitlist entry", [5, 20], OF_WAIT, () => waiting("W1")],
  ["row imported before", [3, 12], [], () => knownRow],
  ["rejected appointment", [7, 29], OF_APPOINTMENT, () => ahead("A3", "08:00")],
])("a batch with one %s sends only the statements of its kind", async (_, [trips, count], tables, row) => {
  takeSent();
  await importRows(clinic, [row()]);
  const sent = statementsOfLastCall(takeSent());
  const flights = new Set(sent.map(({ flight }) => flight));
  expect([[flights.size, sent.length], tablesIn(sent)]).toEqual([[trips, count], [...OF_BATCH, ...tables].toSorted()]);
});

test("a batch looks up rows by index only, because the planner has seen the tables of a new tenant empty", async () => {
  takeSent();
  await importRows(clinic, [patientRow("P3")]);
  const settings = takeSent().flatMap(({ text }) => /^SET LOCAL (enable_\w+) = off$/.exec(text)?.[1] ?? []);
  expect(settings).toEqual(["enable_seqscan", "enable_hashjoin", "enable_mergejoin"]);
});

function tablesIn(sent: readonly SentStatement[]): string[] {
  const found = sent.flatMap(({ text }) => Array.from(text.matchAll(TABLE), ([, table = ""]) => table));
  return [...new Set(found)].toSorted();
}

function ahead(sourceId: string, time: string): JsonObject {
  return appointmentRow(clinic, sourceId, { status: "PENDING" }, { date: day(clinic, 2), time });
}

function waiting(sourceId: string): JsonObject {
  return {
    sourceId,
    waitlistEntry: {
      patient: { sourceId: "P1" },
      service: { resourceId: clinic.serviceId },
      dateFrom: day(clinic, 0),
      dateTo: day(clinic, 30),
      preferredPeriods: ["MORNING"],
      requestedOn: "2024-02-01",
    },
  };
}
