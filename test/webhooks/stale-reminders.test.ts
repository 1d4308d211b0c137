import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFeedReader } from "../../src/events/feed-reader.js";
import type { Database } from "../../src/postgres/database.js";
import type { DeliveryRecord } from "../../src/postgres/tables/webhooks/webhook-deliveries.js";
import { deliverWebhook } from "../../src/webhooks/deliver-webhook.js";
import type { DeliveryPorts } from "../../src/webhooks/delivery-ports.js";
import { createTimeEventJudge } from "../../src/webhooks/judge-time-event.js";
import { newWebhookSecret } from "../../src/webhooks/webhook-secrets.js";
import * as fixtures from "../contract/fixtures.js";
import { rpcNamed } from "../contract/published-operations.js";
import { begin, MINUTE_MS, newTenant, runJob } from "../jobs/time-events-under-test.js";
import { appointmentType, provideResource } from "../operations-clinic/resources-under-test.js";
import {
  appointmentIn,
  type Clinic,
  day,
  materialize,
  type OptionBody,
  openClinic,
  optionsIn,
} from "../schedule/clinic.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { openCaller, type RpcCaller } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { createWebhook } from "./webhooks-under-test.js";

const REMINDER = "cupo.appointment.reminder_due";
/** Days of moves: 24 days have 10,080 moves. */
const DAYS = Number(process.env["REMINDER_DAYS"] || 4);
/** Each appointment has a practitioner with eight slots a day, and visits the other seven on each day. */
const [APPOINTMENTS, SLOTS] = [60, 8];
const SLACK_MS = 1_200_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const MOVES = APPOINTMENTS * DAYS * (SLOTS - 1);
/**
 * How far the clock goes on before a step of a day, by the step: to the time of the reminders of the first slot, then of
 * the second one. In all it is less than the lifetime of an option token.
 */
const DUE_STEPS = new Map([
  [1, MINUTE_MS],
  [4, 5 * MINUTE_MS],
]);
/** Appointments visit the slots of a day in an order of their own, each slot once. */
const STRIDE = 3;

/** A start of an appointment, and when the move to it was asked for and answered, by the monotonic clock. */
interface Start {
  readonly startsAt: string;
  readonly askedAt: number;
  readonly answeredAt: number;
}

/** A reminder that was sent or dropped, and when its appointment was looked up for that. */
interface Judged extends Pick<DeliveryRecord, "eventId" | "resourceId"> {
  readonly resourceVersion: number;
  readonly began: number;
  readonly ended: number;
  readonly verdict: "SEND" | "DROP";
}

let service: TestService;
let database: Database;
let clinic: Clinic;
let call: RpcCaller;
/** The starts of each appointment, that of version 1 first. */
const starts = new Map<string, Start[]>();
const judged: Judged[] = [];
/** The ids of the sent events. */
const sent: string[] = [];

beforeAll(async () => {
  service = await startTestService();
  database = openServiceDatabase(service.databaseUrl);
  service.stopAt(Date.parse(`${day({ service }, 0)}T12:00:00Z`));
  const as = newTenant();
  const practitionerIds = await Promise.all(
    Array.from({ length: APPOINTMENTS }, () => fixtures.practitioner.create(service, as)),
  );
  const hours = { startsAtLocal: "06:00:00", endsAtLocal: "06:40:00", slotDurationMinutes: 5 };
  const rule = { ...hours, dailyCapacity: APPOINTMENTS * SLOTS, validTo: day({ service }, DAYS + 4) };
  const short = await provideResource(service, appointmentType, { durationMinutes: 5 }, as);
  clinic = { ...(await openClinic(service, { as, practitionerIds, rule })), appointmentTypeId: short.id };
  call = openCaller(service, as);
  await begin(clinic, database);
});

afterAll(async () => {
  await database.close();
  await service.close();
});

test(
  `during ${MOVES} moves, no reminder is sent for a start that its appointment had left before`,
  async () => {
    const request = { url: "https://receiver.example.com/cupo", eventTypes: [REMINDER] };
    const { webhookId } = await createWebhook(service, request, clinic.as);
    await Promise.all(clinic.practitionerIds.map((id) => bookWith(id)));
    for (let date = 0; date < DAYS; date += 1) {
      service.stopAt(Date.parse(`${day(clinic, 2)}T11:00:00Z`) - DAY_MS - MINUTE_MS);
      await materialize(clinic);
      const plans = await Promise.all(Array.from(starts.keys(), (id) => planOf(id)));
      for (let step = 0; step < SLOTS - 1; step += 1) {
        service.stopAt(service.now() + (DUE_STEPS.get(step) ?? 0));
        const moves = plans.map(({ appointmentId, options }, each) =>
          move(appointmentId, options[(STRIDE * step + each) % SLOTS]),
        );
        await Promise.all([...moves, runJob(database, service), deliver(webhookId)]);
      }
    }
    const moves = [...starts.values()].reduce((sum, { length }) => sum + length - 1, 0);
    expect(moves).toBe(MOVES);
    const [kept, dropped] = ["SEND", "DROP"].map((verdict) => judged.filter((each) => each.verdict === verdict));
    expect(kept?.filter(hasLeftBefore)).toEqual([]);
    expect(dropped?.filter((each) => !mayHaveLeft(each))).toEqual([]);
    expect(sent.toSorted()).toEqual(kept?.map(({ eventId }) => eventId).toSorted());
    expect(Math.min(kept?.length ?? 0, dropped?.length ?? 0)).toBeGreaterThan(DAYS);
  },
  SLACK_MS,
);

async function bookWith(practitionerId: string): Promise<void> {
  const { id: patientId } = await fixtures.registerPatient(service, {}, clinic.as);
  const [option] = await optionsOn(day(clinic, 1), { patientId, practitionerId });
  const { requestSourceId, appointmentTypeId } = clinic;
  const optionToken = String(option?.optionToken);
  const request = { patientId, optionToken, requestSourceId, appointmentTypeId };
  const { appointmentId, startsAt } = appointmentIn(await call(rpcNamed("BookAppointment"), request));
  starts.set(appointmentId, [{ startsAt, askedAt: 0, answeredAt: 0 }]);
}

/** Returns the free slots of tomorrow that an appointment then visits. The practitioners are not in demand by others. */
async function planOf(appointmentId: string) {
  const { practitionerId } = appointmentIn(await call(rpcNamed("GetAppointment"), { appointmentId }));
  const options = await optionsOn(day(clinic, 1), { appointmentId, practitionerId });
  expect(options).toHaveLength(SLOTS);
  return { appointmentId, options };
}

async function optionsOn(date: string, request: JsonObject): Promise<readonly OptionBody[]> {
  const dates = { dateFrom: date, dateTo: date };
  return optionsIn(
    await call(rpcNamed("SearchAppointmentOptions"), { serviceId: clinic.serviceId, ...dates, ...request }),
  );
}

async function move(appointmentId: string, option: OptionBody | undefined): Promise<void> {
  const had = starts.get(appointmentId) ?? [];
  const askedAt = performance.now();
  const request = { appointmentId, optionToken: String(option?.optionToken), expectedVersion: had.length };
  const { status, text } = await call(rpcNamed("RescheduleAppointment"), request);
  if (status !== 200) throw new Error(`a move must succeed, but the answer is ${text}`);
  had.push({ startsAt: String(option?.startsAt), askedAt, answeredAt: performance.now() });
}

/** Sends what is due, as a job does, and notes when each reminder was judged. */
async function deliver(webhookId: string): Promise<void> {
  const judge = createTimeEventJudge(database, service.now);
  const secret = Buffer.from(newWebhookSecret());
  const ports: DeliveryPorts = {
    database,
    reader: createFeedReader(database),
    vault: { seal: () => "", open: async () => secret },
    sender: {
      send: async ({ body }) => {
        sent.push(String(JSON.parse(body).eventId));
        return { status: 204 };
      },
      close: () => undefined,
    },
    judge: async (delivery, tenantId) => {
      const began = performance.now();
      const verdict = await judge(delivery, tenantId);
      const { eventId, resourceId, resourceVersion = 0 } = delivery;
      judged.push({ eventId, resourceId, resourceVersion, began, ended: performance.now(), verdict });
      return verdict;
    },
    now: service.now,
    logger: { info: () => undefined, warn: (_: unknown, text?: string) => expect.fail(String(text)) },
  };
  const hooks = { onLeased: async () => undefined };
  await deliverWebhook(String(clinic.as.tenantId), webhookId, ports, new AbortController().signal, hooks);
}

/** Whether the appointment certainly had left the start of the reminder when the reminder was judged. */
function hasLeftBefore({ resourceId, resourceVersion, began }: Judged): boolean {
  return laterStarts(resourceId, resourceVersion).some(({ answeredAt }) => answeredAt < began);
}

/** Whether the appointment may have left the start of the reminder by then. */
function mayHaveLeft({ resourceId, resourceVersion, ended }: Judged): boolean {
  return laterStarts(resourceId, resourceVersion).some(({ askedAt }) => askedAt < ended);
}

/** Returns the starts after that of a version. Versions are counted from 1. */
function laterStarts(appointmentId: string, version: number): readonly Start[] {
  const all = starts.get(appointmentId) ?? [];
  return all.slice(version).filter(({ startsAt }) => startsAt !== all[version - 1]?.startsAt);
}
