import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Database } from "../../src/postgres/database.js";
import * as fixtures from "../contract/fixtures.js";
import { begin, bookOn, cancel, HOUR_MS, moveTo, newTenant, runJob } from "../jobs/time-events-under-test.js";
import { deskFixtures } from "../operations-clinic/desk-fixtures.js";
import { type Clinic, day, mustCall, openClinic } from "../schedule/clinic.js";
import { eventually } from "../support/eventually.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { RECEIVERS_ALLOWED, startReceiver } from "./receiver.js";
import { createWebhook, readDeliveries, rpc, successOf } from "./webhooks-under-test.js";

const REMINDER = "cupo.appointment.reminder_due";
const EXPIRED = "cupo.waitlist_entry.expired";

let service: TestService;
let database: Database;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService(RECEIVERS_ALLOWED, { runsJobs: true });
  database = openServiceDatabase(service.databaseUrl);
  service.stopAt(service.now());
  clinic = await openClinic(service, { as: newTenant() });
  await begin(clinic, database);
});

afterAll(async () => {
  await database.close();
  await service.close();
});

test("a reminder of a moved or cancelled appointment, and the expiry of a closed entry, are dropped; others arrive", async () => {
  const { as } = clinic;
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const { webhookId } = await createWebhook(service, { url: receiver.url, eventTypes: [REMINDER, EXPIRED] }, as);
  await setState(webhookId, "PAUSED", 1);
  const [kept, moved, cancelled, confirmed] = [await booked(0), await booked(1), await booked(2), await booked(3)];
  const dates = { dateFrom: day(clinic, 0), dateTo: day(clinic, 0), serviceId: clinic.serviceId };
  const desk = deskFixtures(service, as);
  const [open, closed] = [await desk.entry(dates), await desk.entry(dates)];
  service.stopAt(Date.parse(cancelled.startsAt) - 24 * HOUR_MS + HOUR_MS);
  await runJob(database, service);
  await moveTo(clinic, moved, day(clinic, 4));
  await cancel(clinic, cancelled);
  await mustCall(clinic, "ConfirmAppointment", { appointmentId: confirmed.appointmentId, expectedVersion: 1 });
  await mustCall(clinic, "CloseWaitlistEntry", { waitlistEntryId: closed, expectedVersion: 1, reason: "Atendida" });
  await setState(webhookId, "ACTIVE", 2);
  await eventually(async () => {
    const states = (await readDeliveries(service, webhookId, as)).map(({ state }) => state);
    return states.length === 6 && !states.includes("PENDING");
  });
  const dropped = (await readDeliveries(service, webhookId, as)).filter(({ state }) => state === "DROPPED");
  const subjects = [moved, cancelled].map(({ appointmentId }) => `appointment/${appointmentId}`);
  expect(new Set(dropped.map(({ subject }) => subject))).toEqual(new Set([...subjects, `waitlist_entry/${closed}`]));
  expect(receiver.arrived.map(({ resourceId }) => resourceId).toSorted()).toEqual(
    [kept.appointmentId, confirmed.appointmentId, open].toSorted(),
  );
});

/** Books a slot of the day after tomorrow, when the first reminder of its appointments has passed. */
async function booked(skip: number) {
  const { id } = await fixtures.registerPatient(service, {}, clinic.as);
  return bookOn(clinic, id, day(clinic, 2), skip);
}

async function setState(webhookId: string, state: string, expectedVersion: number): Promise<void> {
  successOf(await callRpc(service, rpc.updateWebhook, { webhookId, state, expectedVersion }, { as: clinic.as }));
}
