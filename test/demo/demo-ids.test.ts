import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { v7 as uuidv7, validate, version } from "uuid";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { developmentIssuer } from "../../src/auth/development-issuer.js";
import type { Call, Principal } from "../../src/call.js";
import { demoClient, withDocumentedIds } from "../../src/demo/documented-ids.js";
import { fillDemo } from "../../src/demo/fill-demo.js";
import { DEMO_TENANT_ID, largeClinic } from "../../src/demo/large-clinic.js";
import { smallClinic } from "../../src/demo/small-clinic.js";
import { ReferenceDataService } from "../../src/gen/cupo/clinic/v1/reference_data_service_pb.js";
import { callWith, principalWith } from "../interceptors/run-interceptor.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";

/** A start in the first year of holiday-ids.json. */
const STARTED_AT = Date.parse("2026-03-01T12:00:00Z");

/** The table, code and name (in SQL) of each kind of demo resource. */
const KINDS: Readonly<Record<string, readonly [table: string, code: string, name: string]>> = {
  location: ["locations", "code", "name"],
  "healthcare service": ["healthcare_services", "code", "name"],
  practitioner: ["practitioners", "code", "full_name"],
  "opportunity definition": ["opportunity_definitions", "code", "name"],
  "appointment type": ["appointment_types", "code", "name"],
  "consultation type": ["consultation_types", "code", "name"],
  "request source": ["request_sources", "code", "name"],
  "cancellation reason": ["cancellation_reasons", "code", "name"],
  "no-show reason": ["no_show_reasons", "code", "name"],
  payer: ["payers", "code", "name"],
  contract: ["contracts", "code", "name"],
  program: ["programs", "code", "name"],
  "program rule": [
    "program_rules JOIN programs USING (tenant_id)",
    "programs.code",
    "concat('weekdays ', array_to_string(weekdays, ','), ', ', left(starts_at_local::text, 5), ' to ', left(ends_at_local::text, 5))",
  ],
  patient: ["patients", "concat(document_type, ' ', document_number)", "full_name"],
  holiday: ["holidays", "date::text", "name"],
};

let service: TestService;

beforeAll(async () => {
  service = await startTestService({}, { served: withDocumentedIds });
  await fill();
});

afterAll(() => service.close());

describe("the resources of the demo tenants", () => {
  test.each([largeClinic, smallClinic])(
    "have exactly the ids of docs/reference/demo-ids.md and holiday-ids.json: $name",
    async (clinic) => {
      expect(await documentOf(clinic.tenantId)).toEqual(documented(clinic.tenantId));
    },
  );

  test("keep their ids if the filling is repeated after the keys have expired and resources have changed", async () => {
    await service.query("DELETE FROM idempotency_keys");
    await service.query("UPDATE patients SET status = 'INACTIVE'; UPDATE program_rules SET active = false");
    await service.query("UPDATE programs SET practitioners_version = 1");
    await fill();
    for (const { tenantId } of [largeClinic, smallClinic]) {
      expect(await documentOf(tenantId)).toEqual(documented(tenantId));
    }
    expect(await service.query("SELECT FROM programs WHERE practitioners_version = 1")).toEqual([]);
    expect(await service.query("SELECT FROM audit_events WHERE resource_type = 'Holiday'")).toHaveLength(
      2 * documented(DEMO_TENANT_ID).filter((line) => line.startsWith("holiday")).length,
    );
  });

  test.each(["docs/guide/first-hour.md", "examples/curl/run.sh", "examples/typescript-connect/book.ts"])(
    "have the ids that %s uses",
    (path) => {
      const ids = documented(DEMO_TENANT_ID).map((line) => line.split(" | ").at(-1));
      const named = readDocument(`../../${path}`).match(/\b[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f-]{21}\b/g) ?? [];
      expect(named).not.toEqual([]);
      expect(ids).toEqual(expect.arrayContaining(named));
    },
  );
});

describe("an id", () => {
  const headers = { "Idempotency-Key": "not-a-UUID" };

  test("that exists already is a conflict", async () => {
    const made = await createLocation({ as: { client: demoClient, tenantId: DEMO_TENANT_ID }, headers });
    expect(version(made.id)).toBe(5);
    await service.query("DELETE FROM idempotency_keys");
    const again = await createLocation({ as: { client: demoClient, tenantId: DEMO_TENANT_ID }, headers });
    expect(again).toMatchObject({ status: 409, errors: [{ code: "DUPLICATE", field: "id" }] });
  });

  test.each<[string, TokenFor]>([
    ["of another client in a demo tenant", { tenantId: DEMO_TENANT_ID, client: "demo" }],
    ["of the same client in another tenant", { client: demoClient }],
  ])("has version 7 in a call %s", async (_, as) => {
    const { id } = await createLocation({ as, headers });
    expect(version(id)).toBe(7);
  });
});

describe("a call is not treated as part of the filling", () => {
  const filling = principalWith({ issuer: developmentIssuer, clientId: demoClient, tenantId: DEMO_TENANT_ID });

  test.each<[string, Partial<Principal>]>([
    ["another issuer", { issuer: "https://id.example.org" }],
    ["another client", { clientId: "demo" }],
    ["another tenant", { tenantId: randomUUID() }],
  ])("with %s", (_, change) => {
    const other = { ...filling, ...change };
    expect([filling, other].map(firstId).map(version)).toEqual([5, 7]);
  });

  function firstId(principal: Principal): string {
    const entry = {
      service: ReferenceDataService,
      implementation: { createLocation: (_: unknown, { newId }: Call) => newId() },
    };
    const call = { ...callWith({ principal }), newId: uuidv7 };
    return withDocumentedIds(entry).implementation.createLocation({}, call);
  }
});

function fill(): Promise<void> {
  return fillDemo({
    internalUrl: service.internalUrl,
    issuer: { sign: (request) => service.token(request) },
    now: () => STARTED_AT,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
}

async function createLocation(changes: Parameters<typeof callRpc>[3]) {
  const request = { code: randomUUID(), name: "Sede", active: true };
  const { status, body } = await callRpc(service, ReferenceDataService.method.createLocation, request, changes);
  const { locationId } = (body["location"] ?? { locationId: "" }) as { locationId: string };
  return { status, id: locationId, errors: body["errors"] };
}

/** Returns the resources of a tenant, one sorted line each. */
async function documentOf(tenantId: string): Promise<string[]> {
  const lines: string[] = [];
  for (const [kind, [table, code, name]] of Object.entries(KINDS)) {
    const id = `${table.split(" ")[0]}.id`;
    const join = kind === "program rule" ? "AND programs.id = program_id" : "";
    const rows = await service.query(
      `SELECT concat_ws(' | ', '${kind}', ${code}, ${name}, ${id}) AS line FROM ${table} WHERE tenant_id = '${tenantId}' ${join}`,
    );
    lines.push(...rows.map(({ line }) => String(line)));
  }
  return lines.toSorted();
}

/** Returns the documented lines of a tenant: its lists in docs/reference/demo-ids.md, and its holidays. */
function documented(tenantId: string): string[] {
  const section =
    readDocument("../../docs/reference/demo-ids.md")
      .split(/^## /m)
      .find((part) => part.includes(`Tenant \`${tenantId}\``)) ?? "";
  const rows = section.split(/^### /m).flatMap((list) => {
    const [kind = ""] = list.split("\n");
    return Array.from(list.matchAll(/^- (.+?): (.+) `(.+)`$/gm), ([, ...cells]) => [kind, ...cells]);
  });
  expect(rows.filter((row) => !validate(row.at(-1) ?? ""))).toEqual([]);
  return [...rows, ...holidaysOf(tenantId)].map((row) => row.join(" | ")).toSorted();
}

/**
 * Returns the holidays of a tenant for a start in 2026. Each row of the file has a date, a name and the id in both
 * tenants.
 */
function holidaysOf(tenantId: string): string[][] {
  const holidays = JSON.parse(readDocument("holiday-ids.json")) as [string, string, string, string][];
  const isLarge = tenantId === DEMO_TENANT_ID;
  return holidays.map(([date, name, large, small]) => ["holiday", date, name, isLarge ? large : small]);
}

function readDocument(path: string): string {
  return readFileSync(new URL(path, import.meta.url), "utf8");
}
