import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { holdFirst } from "../operations-clinic/hold-requests.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.js";
import { recordStatements, type SentStatement } from "../support/sent-statements.js";
import { startTestService, type TestService } from "../support/service.js";
import { bookFirst, type Clinic, day, mustCall, openClinic, optionsFor } from "./clinic.js";
import { daysCounted, lockedTable, lockSummary } from "./locking-statements.js";

const OF_A_TAKER = [
  "consumed_option_tokens",
  "slots",
  "practitioners",
  "appointment_holds",
  "day_counters",
  "hold_holders",
];

let database: TestDatabase;
let proxy: PostgresProxy;
let service: TestService;
let takeSent: () => SentStatement[];
let clinic: Clinic;
let patientId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startPostgresProxy(database.url);
  takeSent = recordStatements(proxy);
  service = await startTestService({ DATABASE_URL: proxy.url });
});

beforeEach(async () => {
  clinic = await openClinic(service);
  patientId = await fixtures.createPatient(service);
});

afterAll(async () => {
  await service.close();
  await proxy.close();
  await database.drop();
});

test("a hold locks what a booking locks, then expired holds and the counters, in two round trips", async () => {
  const [option] = await optionsFor(clinic, { patientId });
  const sent = await send("HoldAppointmentOption", { optionToken: `${option?.optionToken}` });
  expect(lockSummary(sent)).toEqual({ locked: ["idempotency_keys", "patients", ...OF_A_TAKER], trips: 2 });
});

test("a hold for an appointment also locks it, but not the slots that it has", async () => {
  const { appointmentId } = await bookFirst(clinic, patientId);
  const dates = { dateFrom: day(clinic, 3), dateTo: day(clinic, 3) };
  const [option] = await optionsFor(clinic, { appointmentId, ...dates });
  const sent = await send("HoldAppointmentOption", { optionToken: `${option?.optionToken}` });
  const locked = ["idempotency_keys", "patients", "appointments", ...OF_A_TAKER];
  expect(lockSummary(sent)).toEqual({ locked, trips: 2 });
});

test("a hold of one of several options takes three round trips, and waits for no slot before the token", async () => {
  const [first, second] = await optionsFor(clinic, { patientId });
  const request = { optionToken: `${first?.optionToken}`, alternativeOptionTokens: [`${second?.optionToken}`] };
  const sent = await send("HoldAppointmentOption", request);
  expect(lockSummary(sent)).toEqual({ locked: ["idempotency_keys", "patients", ...OF_A_TAKER], trips: 3 });
  const early = sent.filter(({ text }) => text.includes(" FOR NO KEY UPDATE OF s SKIP LOCKED"));
  expect(early.map(({ text }) => lockedTable(text))).toEqual([undefined]);
});

test("booking a hold locks the hold after the practitioner, in two round trips", async () => {
  const { optionToken } = await holdFirst(clinic, { patientId });
  const { requestSourceId, appointmentTypeId } = clinic;
  const sent = await send("BookAppointment", { patientId, optionToken, requestSourceId, appointmentTypeId });
  expect(lockSummary(sent)).toEqual({ locked: ["idempotency_keys", "patients", ...OF_A_TAKER], trips: 2 });
});

test("rescheduling to a hold locks the hold after the practitioner, in two round trips", async () => {
  const { appointmentId } = await bookFirst(clinic, patientId);
  const { optionToken } = await holdFirst(clinic, { appointmentId, dateFrom: day(clinic, 3), dateTo: day(clinic, 3) });
  const sent = await send("RescheduleAppointment", { appointmentId, optionToken, expectedVersion: 1 });
  const locked = ["idempotency_keys", "patients", "appointments", ...OF_A_TAKER];
  expect(lockSummary(sent)).toEqual({ locked, trips: 2 });
});

test("a release locks the hold, then the counters, in two round trips", async () => {
  const { holdId } = await holdFirst(clinic, { patientId });
  const locked = ["idempotency_keys", "appointment_holds", "day_counters", "hold_holders"];
  expect(lockSummary(await send("ReleaseHold", { holdId }))).toEqual({ locked, trips: 2 });
});

test("a merge that ends holds of several days locks the counters in the order of their dates", async () => {
  const survivorPatientId = await fixtures.createPatient(service);
  for (const days of [4, 2, 3])
    await holdFirst(clinic, { patientId, dateFrom: day(clinic, days), dateTo: day(clinic, days) });
  const versions = { survivorExpectedVersion: 1, duplicateExpectedVersion: 1 };
  const request = { survivorPatientId, duplicatePatientId: patientId, ...versions, reason: "Dos registros" };
  expect(daysCounted(await send("MergePatients", request))).toEqual([2, 3, 4].map((days) => day(clinic, days)));
});

test("a hold locks the expired holds at its time by their ids before it ends them", async () => {
  const { expiresAt } = await holdFirst(clinic, { patientId });
  service.stopAt(Date.parse(expiresAt));
  const [option] = await optionsFor(clinic, { patientId });
  const sent = await send("HoldAppointmentOption", { optionToken: `${option?.optionToken}` });
  const ofHolds = sent.map(({ text }) => text).filter((text) => lockedTable(text) === "appointment_holds");
  expect(ofHolds.map((text) => /^(\w+).*?( ORDER BY id FOR NO KEY UPDATE)?$/s.exec(text)?.slice(1))).toEqual([
    ["SELECT", " ORDER BY id FOR NO KEY UPDATE"],
    ["UPDATE", undefined],
  ]);
});

/** Calls an RPC that must succeed. Returns the statements that the service sent. */
async function send(rpc: string, request: JsonObject): Promise<readonly SentStatement[]> {
  takeSent();
  await mustCall(clinic, rpc, request);
  return takeSent();
}
