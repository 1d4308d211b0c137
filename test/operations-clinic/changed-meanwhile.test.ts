import { Client } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, call, openClinic } from "../schedule/clinic.js";
import { eventually } from "../support/eventually.js";
import { startTestService, type TestService } from "../support/service.js";
import { expectRefusal } from "./rpc-under-test.js";

const STALE = ["expectedVersion STALE_VERSION"];

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

test("an appointment that changes meanwhile is not changed with what was read before", async () => {
  const clinic = await openClinic(service);
  const { appointmentId } = await bookFirst(clinic, await fixtures.createPatient(service));
  const lengthen = (expectedVersion: number) =>
    call(clinic, "ChangeAppointment", { appointmentId, expectedVersion, durationMinutes: 60 });
  const holder = new Client(service.databaseUrl);
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query(`BEGIN; SET LOCAL cupo.tenant_id = '${service.tenantId}'`);
  await holder.query(`UPDATE appointments SET version = 2 WHERE id = '${appointmentId}'`);
  expectRefusal(await lengthen(2), 409, STALE);
  const waiting = lengthen(1);
  const isWaiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  await eventually(async () => (await service.query(isWaiting)).length > 0);
  await holder.query("COMMIT");
  expectRefusal(await waiting, 409, STALE);
  expect(await service.query(`SELECT version FROM appointments WHERE id = '${appointmentId}'`)).toEqual([
    { version: 2 },
  ]);
});
