import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { examine } from "../../src/doctor/doctor.js";
import { BookingService } from "../../src/gen/cupo/clinic/v1/booking_service_pb.js";
import { requestExamples } from "../../src/openapi/examples/request-examples.js";
import { isReplicable } from "../../src/operation.js";
import { exampleCalls, startDemoService, unaryMethods } from "../openapi/example-calls.js";
import { createResource, location, rpcNamed } from "../operations-clinic/resources-under-test.js";
import { eventually } from "../support/eventually.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { type ReplicatedPostgres, startReplicatedPostgres } from "../support/standby.js";
import { readMetrics } from "../telemetry/metrics-page.js";

let postgres: ReplicatedPostgres;
let service: TestService;

beforeAll(async () => {
  postgres = await startReplicatedPostgres();
  service = await startDemoService(settings());
});

afterAll(async () => {
  await service?.close();
  await postgres?.close();
});

function settings() {
  return {
    DATABASE_URL: postgres.primaryUrl,
    MIGRATION_DATABASE_URL: postgres.ownerUrl,
    DATABASE_REPLICA_URL: postgres.replicaUrl,
  };
}

/** Returns how many reads have had this outcome so far. */
async function reads(outcome: string): Promise<number> {
  return (await readsByOutcome())(outcome);
}

/** Reads the number of reads by outcome once. */
async function readsByOutcome(): Promise<(outcome: string) => number> {
  const page = await readMetrics(service.internalUrl);
  return (outcome) => page.sum("cupo_replica_reads_total", { cupo_replica_outcome: outcome }) ?? 0;
}

async function listedIds(tenantId: string): Promise<unknown[]> {
  const { body } = await callRpc(service, rpcNamed("ListLocations"), { pageSize: 100 }, { as: { tenantId } });
  const { locations = [] } = body as { readonly locations?: readonly { readonly locationId: string }[] };
  return locations.map(({ locationId }) => locationId);
}

async function createLocation(tenantId: string): Promise<unknown> {
  const { id } = await createResource(service, location, {}, { tenantId });
  return id;
}

/** Requests a list until the replica serves it. */
async function eventuallyServed(tenantId: string): Promise<void> {
  await eventually(async () => {
    const served = await reads("served");
    await listedIds(tenantId);
    return (await reads("served")) > served;
  });
}

test("a list contains what was committed a moment before", async () => {
  const tenantId = randomUUID();
  const created: unknown[] = [];
  for (let i = 0; i < 20; i++) {
    created.push(await createLocation(tenantId));
    expect(await listedIds(tenantId)).toEqual(created);
  }
  await eventuallyServed(tenantId);
});

test("a read that the replica answers with an error is served by it", async () => {
  await eventually(async () => {
    const served = await reads("served");
    const { status } = await callRpc(service, BookingService.method.listAppointmentChanges, {
      appointmentId: randomUUID(),
    });
    expect(status).toBe(404);
    return (await reads("served")) > served;
  });
});

/** This runs on the primary, because it assigns positions to events. */
const EXCEPT = ["ListEvents"];

test("all searches, lists and previews without side effects can run there, except one", async () => {
  const examples = exampleCalls(service, requestExamples(service.now()));
  const methodOf = (name: string) => unaryMethods.get(name.split(" ")[0] ?? "");
  const names = Object.keys(requestExamples(service.now())).filter((name) => {
    const method = methodOf(name);
    return method !== undefined && isReplicable(method);
  });
  const unable = [];
  const able = (ended: (outcome: string) => number) => ended("served") + ended("behind");
  let before = await readsByOutcome();
  for (const name of names) {
    expect([name, (await examples.call(name)).status]).toEqual([name, 200]);
    const after = await readsByOutcome();
    if (after("unable") !== before("unable")) unable.push(name);
    else expect([name, able(after) > able(before)]).toEqual([name, true]);
    before = after;
  }
  expect(names.length).toBeGreaterThan(20);
  expect(unable).toEqual(EXCEPT);
});

test("doctor accepts a standby of the same database, and explains why another one is wrong", async () => {
  const told = async (url: string) => {
    const environment = { ...settings(), DATABASE_REPLICA_URL: url };
    const ports = { now: service.now, freeBytes: async () => 2 ** 40, findEmbedded: async () => undefined };
    const findings = await examine({ ...ports, environment });
    return findings.filter(({ check }) => check === "replica").map(({ level, says }) => `${level}: ${says}`);
  };
  expect(await told(postgres.replicaUrl)).toEqual(["ok: a standby of the same database accepts the service"]);
  expect(await told(postgres.primaryUrl)).toEqual([
    "failure: DATABASE_REPLICA_URL points to a server that accepts writes",
  ]);
  expect(await told(service.databaseUrl)).toEqual([
    "failure: DATABASE_REPLICA_URL points to another database than DATABASE_URL",
  ]);
  expect(await told(postgres.superuserReplicaUrl)).toEqual(["failure: the service's role postgres is a superuser"]);
  expect(await told("postgres://cupo@127.0.0.1:1/cupo")).toEqual([
    expect.stringMatching(/^failure: DATABASE_REPLICA_URL: nothing listens at /),
  ]);
});

describe("the primary serves reads", () => {
  test("while the replica is behind, until it has the commit", async () => {
    const tenantId = randomUUID();
    await postgres.pauseReplay();
    onTestFinished(() => postgres.resumeReplay());
    const before = await reads("behind");
    const id = await createLocation(tenantId);
    expect(await listedIds(tenantId)).toEqual([id]);
    expect(await reads("behind")).toBe(before + 1);
    await postgres.resumeReplay();
    await eventuallyServed(tenantId);
  });

  test("without asking the replica again, if it stays behind", async () => {
    const tenantId = randomUUID();
    await postgres.pauseReplay();
    onTestFinished(() => postgres.resumeReplay());
    const id = await createLocation(tenantId);
    const before = await reads("behind");
    await eventually(async () => {
      const asked = await reads("behind");
      expect(await listedIds(tenantId)).toEqual([id]);
      return asked > before && (await reads("behind")) === asked;
    });
    await postgres.resumeReplay();
    await eventuallyServed(tenantId);
  });

  test("but the service does not start if the replica's role bypasses row-level security", async () => {
    const started = startTestService({ ...settings(), DATABASE_REPLICA_URL: postgres.superuserReplicaUrl });
    await expect(started).rejects.toThrow("The role in DATABASE_REPLICA_URL is a superuser or has BYPASSRLS");
  });

  test("if the replica is promoted, and does not ask it again at once; and if it is unreachable", async () => {
    const tenantId = randomUUID();
    await postgres.promoteReplica();
    const id = await createLocation(tenantId);
    expect(await listedIds(tenantId)).toEqual([id]);
    expect(await listedIds(tenantId)).toEqual([id]);
    expect(await reads("promoted")).toBe(1);
    await postgres.stopReplica();
    await eventually(async () => {
      expect(await listedIds(tenantId)).toEqual([id]);
      return (await reads("away")) === 1;
    });
  });
});
