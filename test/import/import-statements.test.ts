import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { statementsOfLastCall, tripsOfLastCall } from "../postgres/round-trips.js";
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

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startPostgresProxy(database.url);
  takeSent = recordStatements(proxy);
  service = await startTestService({ DATABASE_URL: proxy.url });
  clinic = await openImportingClinic(service);
  await importRows(clinic, [patientRow("P1")]);
});

afterAll(async () => {
  await service.close();
  await proxy.close();
  await database.drop();
});

const TABLE = /\b(?:into|update|from|join|INTO|UPDATE|FROM|JOIN) "?((?!jsonb_|unnest)[a-z_]+)/g;

/** Tables that every batch needs. */
const OF_EVERY_BATCH = ["audit_events", "event_outbox", "idempotency_keys", "import_sources", "imported_resources"];

/** Tables that every appointment needs: those of its references, and of the people and slots of its time. */
const OF_EVERY_APPOINTMENT = [
  ...[
    "appointment_history",
    "appointment_holds",
    "appointment_types",
    "appointments",
    "healthcare_services",
    "holidays",
  ],
  ...["locations", "opportunity_definitions", "patients", "practitioners", "program_practitioners", "program_services"],
  ...["programs", "request_sources", "slots"],
];
const OF_WAIT = ["healthcare_services", "holidays", "opportunity_definitions", "patients", "waitlist_entries"];

test.each<[string, number, readonly string[], () => JsonObject]>([
  ["location", 4, ["locations"], () => ({ sourceId: "L1", location: { code: "L1", name: "Sede", active: true } })],
  ["service", 4, ["healthcare_services"], () => ({ sourceId: "S1", service: { code: "S1", name: "S", active: true } })],
  ["patient", 4, ["patient_consents", "patient_search_words", "patients"], () => patientRow("P2")],
  ["past appointment", 7, [...OF_EVERY_APPOINTMENT, "schedule_blocks"], () => appointmentRow(clinic, "A1")],
  ["appointment ahead", 8, [...OF_EVERY_APPOINTMENT, "day_counters", "program_rules"], () => ahead("A2", "08:00")],
  ["waitlist entry", 5, OF_WAIT, () => waiting("W1")],
])("a batch with one %s takes %i round trips and uses no tables of other kinds", async (_, trips, tables, row) => {
  takeSent();
  await importRows(clinic, [row()]);
  const sent = takeSent();
  expect([tripsOfLastCall(sent), tablesIn(statementsOfLastCall(sent))]).toEqual([
    trips,
    [...OF_EVERY_BATCH, ...tables].toSorted(),
  ]);
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
