import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/postgres/database.js";
import type { DeliveryRecord } from "../../src/postgres/tables/webhooks/webhook-deliveries.js";
import { createTimeEventJudge } from "../../src/webhooks/judge-time-event.js";
import * as fixtures from "../contract/fixtures.js";
import { type Clinic, day, mustCall, openClinic } from "../schedule/clinic.js";
import { testNow } from "../support/clock.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { startTestService, type TestService } from "../support/service.js";
import { Oracle } from "./time-events-oracle.js";
import {
  begin,
  bookOn,
  cancel,
  HOUR_MS,
  MINUTE_MS,
  moveTo,
  newTenant,
  runJob,
  type SeenEvent,
  timeEvents,
} from "./time-events-under-test.js";

const STEPS = Number(process.env["TIME_EVENT_STEPS"] || 120);
const PATIENTS = 12;
const SEED = 29;

let service: TestService;
let database: Database;
let clinic: Clinic;
let oracle: Oracle;

beforeAll(async () => {
  service = await startTestService();
  database = openServiceDatabase(service.databaseUrl);
  service.stopAt(service.now());
  clinic = await openClinic(service, { as: newTenant(), rule: { validTo: day({ service }, 90) } });
  await begin(clinic, database);
  oracle = new Oracle(service.now());
});

afterAll(async () => {
  await database.close();
  await service.close();
});

test(`after ${STEPS} random bookings, moves, cancellations and runs, the feed has the events of an oracle, and no receiver a stale one`, async () => {
  const random = randomOf(SEED);
  const patients = await Promise.all(
    Array.from({ length: PATIENTS }, async () => (await fixtures.registerPatient(service, {}, clinic.as)).id),
  );
  const judged = { SEND: 0, DROP: 0 };
  for (let step = 0; step < STEPS; step++) {
    const patientId = patients[random(PATIENTS)] ?? "";
    await change(random, patientId);
    service.advance(random(4) === 0 ? random(9) * HOUR_MS : random(90) * MINUTE_MS);
    if (random(3) > 0) continue;
    await run();
    for (const event of oracle.expected.slice(-8)) judged[await judge(event)]++;
  }
  await run();
  expect(sorted(await timeEvents(clinic))).toEqual(sorted(oracle.expected));
  expect(oracle.expected.length).toBeGreaterThan(50);
  expect(Math.min(judged.SEND, judged.DROP)).toBeGreaterThan(10);
});

/** Makes a random change of an appointment of a patient, or books one. */
async function change(random: (below: number) => number, patientId: string): Promise<void> {
  const ids = [...oracle.appointments].filter(([, known]) => known.isOpen && known.startMs > service.now());
  const [appointmentId, known] = ids[random(ids.length)] ?? [];
  const [date, skip, kind] = [day(clinic, 1 + random(4)), random(8), random(10)];
  if (appointmentId === undefined || known === undefined || kind < 4) {
    const booked = await bookOn(clinic, patientId, date, skip).catch(() => undefined);
    if (booked !== undefined) oracle.booked(booked.appointmentId, Date.parse(booked.startsAt), service.now());
  } else if (kind < 8) {
    const startMs = await moveTo(clinic, { appointmentId, version: known.version }, date, skip).catch(() => undefined);
    if (startMs !== undefined) oracle.moved(appointmentId, startMs, service.now());
  } else if (kind === 8) {
    await cancel(clinic, { appointmentId, version: known.version });
    oracle.changed(appointmentId, false);
  } else {
    const request = { appointmentId, expectedVersion: known.version };
    const isConfirmed = await mustCall(clinic, "ConfirmAppointment", request).then(
      () => true,
      () => false,
    );
    if (isConfirmed) oracle.changed(appointmentId, true);
  }
}

async function run(): Promise<void> {
  await runJob(database, service);
  oracle.ran(service.now());
}

/** Judges a delivery of an event as a sender does, and compares with the oracle. */
async function judge(event: SeenEvent): Promise<"SEND" | "DROP"> {
  const [type, resourceId, resourceVersion] = event;
  const sent = createTimeEventJudge(database, service.now);
  const verdict = await sent(deliveryOf(`cupo.${type}`, resourceId, resourceVersion), String(clinic.as.tenantId));
  expect([event, verdict]).toEqual([event, oracle.isTrue(event) ? "SEND" : "DROP"]);
  return verdict;
}

function deliveryOf(eventType: string, resourceId: string, resourceVersion: number): DeliveryRecord {
  const at = new Date(testNow());
  return {
    id: randomUUID(),
    webhookId: randomUUID(),
    eventId: randomUUID(),
    eventType,
    occurredAt: at,
    resourceType: "Appointment",
    resourceId,
    resourceVersion,
    correlationId: randomUUID(),
    state: "PENDING",
    attempts: 0,
    lastAttemptAt: undefined,
    nextAttemptAt: at,
    lastStatus: undefined,
    lastFailure: undefined,
    createdAt: at,
  };
}

function sorted(events: readonly SeenEvent[]): string[] {
  return events.map((event) => event.join(" ")).toSorted();
}

/** Returns a function that returns pseudo-random whole numbers below a limit (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
