import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectProblem, messagesOf } from "../support/problem.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { createPatient, healthcareService, location, practitioner } from "./fixtures.js";
import { rpcNamed } from "./published-operations.js";

const DAY_MS = 24 * 60 * 60 * 1000;

let service: TestService;
let good: JsonObject;

beforeAll(async () => {
  service = await startTestService();
  good = {
    patientId: await createPatient(service),
    serviceId: await healthcareService.create(service, {}),
    dateFrom: "2026-01-01",
    dateTo: "2099-12-31",
    preferredPeriods: ["MORNING"],
  };
});

afterAll(() => service.close());

describe("201", () => {
  test("returns an ACTIVE entry with the current time, and nothing else", async () => {
    const { status, body } = await record();
    expect([status, Object.keys(body).toSorted(), body["status"]]).toEqual([
      201,
      ["createdAt", "id", "status"],
      "ACTIVE",
    ]);
    expect(Math.abs(Date.parse(String(body["createdAt"])) - service.now())).toBeLessThan(60_000);
  });

  test("stores every preference", async () => {
    const preferences = {
      locationId: await location.create(service, {}),
      practitionerId: await practitioner.create(service, {}),
      preferredPeriods: ["NIGHT", "AFTERNOON", "EVENING", "MORNING"],
    };
    const { body } = await record(preferences);
    const { body: kept } = await callRpc(service, rpcNamed("GetWaitlistEntry"), {
      waitlistEntryId: String(body["id"]),
    });
    const [entry] = Object.values(kept);
    expect(entry).toMatchObject({ ...good, ...preferences });
  });

  test("neither reserves capacity nor creates an appointment", async () => {
    await record();
    expect(await service.query("SELECT FROM appointments")).toEqual([]);
  });

  test("accepts any number of entries of one patient for one service", async () => {
    expect([(await record()).status, (await record()).status]).toEqual([201, 201]);
  });
});

describe("422 for the dates", () => {
  test("rejects a last date before the first", async () => {
    expectProblem(await record({ dateFrom: "2099-01-02", dateTo: "2099-01-01" }), 422, ["dateTo INVALID_RANGE"]);
  });

  test("accepts a single day, a first date in the past, and a last date of today in Bogotá", async () => {
    const today = localDate(service.now());
    for (const dateFrom of [today, "2000-01-01"]) expect((await record({ dateFrom, dateTo: today })).status).toBe(201);
  });

  test("rejects a last date before today in Bogotá", async () => {
    const dateTo = localDate(service.now() - DAY_MS);
    const answer = await record({ dateFrom: "2000-01-01", dateTo });
    expectProblem(answer, 422, ["dateTo OUT_OF_RANGE"]);
    const today = localDate(service.now());
    expect(messagesOf(answer)).toEqual([`the value must not be before today in America/Bogota, ${today}`]);
  });

  test("replays an entry whose last date has passed since", async () => {
    const changes = { dateTo: localDate(service.now()) };
    const headers = { "idempotency-key": randomUUID() };
    const first = await record(changes, headers);
    service.advance(2 * DAY_MS);
    expect((await record(changes, headers)).text).toBe(first.text);
    expectProblem(await record(changes), 422, ["dateTo OUT_OF_RANGE"]);
  });
});

describe("422 for the periods", () => {
  test("requires at least one period, without duplicates or unknown values", async () => {
    expectProblem(await record({ preferredPeriods: [] }), 422, ["preferredPeriods TOO_FEW"]);
    const twice = await record({ preferredPeriods: ["NIGHT", "NIGHT"] });
    expect(twice.status).toBe(422);
    expect(JSON.stringify(twice.body["errors"])).toContain("DUPLICATE");
    expectProblem(await record({ preferredPeriods: ["DAWN"] }), 422, ["preferredPeriods[0] INVALID_VALUE"]);
  });
});

describe("422 for inactive resources", () => {
  test.each(["INACTIVE", "DECEASED"])("rejects a patient who is %s", async (status) => {
    const patientId = await createPatient(service);
    await callRpc(service, rpcNamed("SetPatientStatus"), { patientId, status, expectedVersion: 1 });
    expectProblem(await record({ patientId }), 422, ["patientId INVALID_VALUE"]);
  });

  test("rejects an inactive service, location and practitioner, and lists them all", async () => {
    const fixtures = { serviceId: healthcareService, locationId: location, practitionerId: practitioner };
    const made = Object.entries(fixtures).map(async ([field, maker]) => [field, await maker.create(service, {})]);
    const ids: Record<string, string> = Object.fromEntries(await Promise.all(made));
    for (const table of ["healthcare_services", "locations", "practitioners"]) {
      const list = Object.values(ids)
        .map((id) => `'${id}'`)
        .join();
      await service.query(`UPDATE ${table} SET active = false WHERE id IN (${list})`);
    }
    expectProblem(await record(ids), 422, [
      "serviceId INVALID_VALUE",
      "locationId INVALID_VALUE",
      "practitionerId INVALID_VALUE",
    ]);
    const mixed = { ...ids, patientId: randomUUID() };
    expectProblem(await record(mixed), 422, [
      "patientId NOT_FOUND",
      "serviceId INVALID_VALUE",
      "locationId INVALID_VALUE",
      "practitionerId INVALID_VALUE",
    ]);
  });
});

test.each(["notes", "reason", "description", "diagnosis"])("has no free text: %s is unknown", async (name) => {
  expectProblem(await record({ [name]: "dolor de cabeza" }), 422, [`${name} UNKNOWN_FIELD`]);
});

function record(changes: JsonObject = {}, headers: Record<string, string> = {}) {
  return service.request("POST", "/waitlist-entries", { body: { ...good, ...changes }, headers });
}

/** Returns the date in America/Bogota, YYYY-MM-DD. */
function localDate(ms: number): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone: "America/Bogota" }).format(ms);
}
