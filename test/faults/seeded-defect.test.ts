import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { IdempotentWork, Outcome } from "../../src/interceptors/idempotency.js";
import type { Database } from "../../src/postgres/database.js";
import { UnitOfWork } from "../../src/postgres/unit-of-work.js";
import { createServices } from "../../src/services/services.js";
import { barePorts } from "../support/bare-ports.js";
import { type ComposedService, startComposedService } from "../support/composed-service.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { sendAtOnce, violationsOfOnce } from "../support/once.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { registration } from "../support/registration.js";
import { type RestAnswer, sendRequest } from "../support/rest-request.js";

/** Tests a test: the check of 64 concurrent requests with one key must detect a store that does not claim keys. */
describe("the check that a request is executed once", () => {
  let testDatabase: TestDatabase;
  let database: Database;
  let sound: UnitOfWork;
  let service: ComposedService;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = openServiceDatabase(testDatabase.url, 10);
    const limits = {
      statementTimeoutMs: 10_000,
      lockTimeoutMs: 1_000,
      workLockTimeoutMs: 1_000,
      idleTimeoutMs: 15_000,
    };
    sound = new UnitOfWork(database, { ...limits, backOff: () => Promise.resolve() });
  });

  afterEach(() => service.close());

  afterAll(async () => {
    await database.close();
    await testDatabase.drop();
  });

  test("passes with the real store", async () => {
    service = await startComposedService(createServices(barePorts), sound);
    expect(violationsOfOnce(await sendAtOnce(service.publicUrl, 64, newRequest()))).toEqual([]);
  });

  test("fails with a store that looks up a key before the work and stores it afterwards", async () => {
    service = await startComposedService(createServices(barePorts), withoutClaim(sound));
    expect(violationsOfOnce(await sendTwiceInTurn(newRequest()))).toEqual([]);
    expect(violationsOfOnce(await sendAtOnce(service.publicUrl, 64, newRequest()))).not.toEqual([]);
  });

  async function sendTwiceInTurn(send: () => Promise<RestAnswer>): Promise<RestAnswer[]> {
    return [await send(), await send()];
  }

  function newRequest(): () => Promise<RestAnswer> {
    const headers = { "idempotency-key": randomUUID() };
    const body = registration();
    return () => sendRequest("POST", `${service.publicUrl}/patients`, { headers, body });
  }
});

/** A defective store: it finds results by their keys, but two concurrent calls with one key both do the work. */
function withoutClaim(sound: IdempotentWork): IdempotentWork {
  const results = new Map<string, Uint8Array>();
  return {
    read: (call, principal, work) => sound.read(call, principal, work),
    async execute(claim, call, principal, work): Promise<Outcome> {
      const response = results.get(claim.key);
      if (response !== undefined) return { kind: "REPLAY", response, isOwn: false };
      let bytes: Uint8Array = new Uint8Array();
      const outcome = await sound.execute({ ...claim, key: randomUUID() }, call, principal, async () => {
        bytes = await work();
        return bytes;
      });
      results.set(claim.key, bytes);
      return outcome;
    },
  };
}
