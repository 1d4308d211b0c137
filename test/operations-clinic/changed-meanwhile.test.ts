import { Client } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, call, mustCall, openClinic } from "../schedule/clinic.js";
import { eventually } from "../support/eventually.js";
import { registerPatient } from "../support/registration.js";
import { startTestService, type TestService } from "../support/service.js";
import { complaint, mergeOf } from "./erasure-requests.js";
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
  const holder = await beginOther();
  await holder.query(`UPDATE appointments SET version = 2 WHERE id = '${appointmentId}'`);
  expectRefusal(await lengthen(2), 409, STALE);
  const waiting = lengthen(1);
  await aCallWaits();
  await holder.query("COMMIT");
  expectRefusal(await waiting, 409, STALE);
  expect(await service.query(`SELECT version FROM appointments WHERE id = '${appointmentId}'`)).toEqual([
    { version: 2 },
  ]);
});

test("a case for a merged patient locks only the survivor, so that an erasure of both cannot wait for it in a circle", async () => {
  const [survivor, { id: patientId }] = [await registerPatient(service), await registerPatient(service)];
  const clinic = { service, as: {} };
  await mustCall(clinic, "MergePatients", { ...mergeOf(survivor, patientId), reason: "La misma persona" });
  const holder = await beginOther();
  const lock = (id: string) => holder.query(`SELECT FROM patients WHERE id = '${id}' FOR UPDATE NOWAIT`);
  await lock(survivor.id);
  const opening = call(clinic, "CreateCase", { ...complaint, patientId });
  await aCallWaits();
  await lock(patientId);
  await holder.query("ROLLBACK");
  expect(await opening).toMatchObject({ status: 200 });
});

/** Begins a transaction of the tenant on a connection of its own. */
async function beginOther(): Promise<Client> {
  const client = new Client(service.databaseUrl);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(`BEGIN; SET LOCAL cupo.tenant_id = '${service.tenantId}'`);
  return client;
}

async function aCallWaits(): Promise<void> {
  const isWaiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  await eventually(async () => (await service.query(isWaiting)).length > 0);
}
