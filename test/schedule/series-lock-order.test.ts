import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { bookedIn, seriesOf } from "../operations-clinic/series-requests.js";
import { timedBooking } from "../operations-clinic/timed-bookings.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.js";
import { recordStatements } from "../support/sent-statements.js";
import { startTestService, type TestService } from "../support/service.js";
import { type Clinic, call, day, mustCall, openClinic } from "./clinic.js";
import { lockSummary } from "./locking-statements.js";

const OF_BOOKINGS = ["idempotency_keys", "patients", "slots", "practitioners", "day_counters"];

let database: TestDatabase;
let proxy: PostgresProxy;
let service: TestService;
let takeSent: ReturnType<typeof recordStatements>;
let clinic: Clinic;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startPostgresProxy(database.url);
  takeSent = recordStatements(proxy);
  service = await startTestService({ DATABASE_URL: proxy.url });
});

beforeEach(async () => {
  clinic = await openClinic(service);
});

afterAll(async () => {
  await service.close();
  await proxy.close();
  await database.drop();
});

describe("series and families", () => {
  test("lock patients, slots, the practitioner and all days in the one order, in five round trips however many", async () => {
    for (const [count, time] of [
      [2, "08:00"],
      [12, "09:00"],
    ] as const) {
      const request = await seriesOf(clinic, { count, startsAt: `${day(clinic, 1)}T${time}:00-05:00` });
      expect(await locksOf("BookSeries", request)).toEqual({ locked: OF_BOOKINGS, trips: 5 });
    }
    for (const count of [2, 5]) {
      const request = await timedBooking(clinic, { startsAt: `${day(clinic, count)}T09:30:00-05:00` });
      const { patientId: _, appointmentTypeId, ...place } = request;
      const patients = await Promise.all(Array.from({ length: count }, () => fixtures.createPatient(service)));
      const visits = patients.map((patientId) => ({ patientId, appointmentTypeId }));
      expect(await locksOf("BookTogether", { ...place, visits } as JsonObject)).toEqual({
        locked: OF_BOOKINGS,
        trips: 5,
      });
    }
  });

  test("lock patients and appointments before they find new slots", async () => {
    for (const count of [2, 8]) {
      const request = await seriesOf(clinic, { count, startsAt: `${day(clinic, 2)}T11:00:00-05:00` });
      const { seriesId, appointments } = bookedIn(await call(clinic, "BookSeries", request));

      const series = { seriesId, fromAppointmentId: `${appointments[0]?.appointmentId}` };
      const move = { ...series, expectedVersion: 1, startsAt: `${day(clinic, 3)}T10:30:00-05:00` };
      const locked = ["idempotency_keys", "patients", "appointments", "slots", "practitioners", "day_counters"];
      expect(await locksOf("MoveSeries", move)).toEqual({ locked, trips: 6 });
      const cancellationReasonId = await fixtures.cancellationReason.create(service, {});
      const cancel = { ...series, cancellationReasonId };
      const freed = locked.filter((table) => table !== "practitioners");
      expect(await locksOf("CancelSeries", cancel)).toEqual({ locked: freed, trips: 3 });
    }
  });
});

async function locksOf(rpc: string, request: JsonObject) {
  takeSent();
  await mustCall(clinic, rpc, request);
  return lockSummary(takeSent());
}
