import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { mustCall } from "../schedule/clinic.js";
import { shareTestService, type TestService } from "../support/service.js";

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

test("a page of events that all have positions waits for nobody who assigns positions", async () => {
  const as = { tenantId: randomUUID() };
  await fixtures.registerPatient(service, {}, as);
  const list = () => mustCall({ service, as }, "ListEvents", { start: "OLDEST" });
  const before = await list();
  expect(before["events"]).toHaveLength(1);
  const other = new Client(service.databaseUrl);
  await other.connect();
  await other.query(`BEGIN; SET LOCAL cupo.tenant_id = '${as.tenantId}'; SELECT FROM event_feeds FOR NO KEY UPDATE`);
  expect(await list()).toEqual(before);
  await other.query("ROLLBACK");
  await other.end();
});
