import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sql } from "../../src/postgres/sql.js";
import { execute } from "../support/database.js";
import {
  newCall,
  newPatient,
  startWorkServer,
  type TenantWork,
  transactionOf,
  type WorkServer,
} from "./work-under-test.js";

let server: WorkServer;
let work: TenantWork;

beforeAll(async () => {
  server = await startWorkServer();
});

afterAll(() => server.close());

beforeEach(() => {
  work = server.newTenant();
});

describe("row-level security", () => {
  test("hides and protects rows of other tenants from any statement", async () => {
    const call = newCall();
    await work.register(call, work.claim(call), newPatient());
    const foreigner = { ...work.principal, tenantId: randomUUID() };
    const other = newCall();
    const seen = await work.inTransaction(other, foreigner, () =>
      transactionOf(other).rows(sql("patients").select("id")),
    );
    expect(seen).toEqual([]);
    const stray = newCall();
    const intrusion = work.inTransaction(stray, foreigner, () =>
      transactionOf(stray).rows(sql.raw("INSERT INTO audit_events SELECT * FROM audit_events")),
    );
    await expect(intrusion).resolves.toEqual([]);
    const forged = newCall();
    const forgery = work.inTransaction(forged, foreigner, () =>
      transactionOf(forged).rows(
        sql("patient_consents").insert({
          tenant_id: work.principal.tenantId,
          id: randomUUID(),
          patient_id: randomUUID(),
          granted_at: "2026-01-01T00:00:00Z",
          principal: "x",
          correlation_id: randomUUID(),
        }),
      ),
    );
    await expect(forgery).rejects.toMatchObject({ code: "42501" });
  });

  test.each([
    ["a patient of version 0", "UPDATE patients SET version = 0"],
    ["a patient of another status", "UPDATE patients SET status = 'NEW'"],
    ["a patient who is merged and ACTIVE", `UPDATE patients SET merged_into = '${randomUUID()}'`],
    ["a patient who is merged into themselves", "UPDATE patients SET status = 'INACTIVE', merged_into = id"],
    ["an erased patient with a name", "UPDATE patients SET status = 'INACTIVE', erased_at = now()"],
    ["another action", auditedAs("action", "'READ'")],
    ["an actor without a name", auditedAs("actor", "''")],
    ["an actor with a long name", auditedAs("actor", "repeat('x', 129)")],
  ])("rejects %s", async (_, statement) => {
    const call = newCall();
    await work.register(call, work.claim(call), newPatient());
    const breach = newCall();
    const broken = work.inTransaction(breach, work.principal, () => transactionOf(breach).rows(sql.raw(statement)));
    await expect(broken).rejects.toMatchObject({ code: "42501" });
  });

  test("keeps audit and consents append-only, even for a role with all rights to the tables", async () => {
    const call = newCall();
    await work.register(call, work.claim(call), newPatient());
    const asTenant = `SET cupo.tenant_id = '${work.principal.tenantId}'`;
    for (const change of ["UPDATE audit_events SET principal = 'nobody'", "DELETE FROM audit_events"]) {
      expect(await execute(server.ownerUrl, asTenant, `${change} RETURNING 1`)).toEqual([]);
    }
    const [row] = await execute(
      server.adminUrl,
      `SELECT count(*)::int AS n FROM audit_events WHERE tenant_id = '${work.principal.tenantId}' AND principal = 'issuer client'`,
    );
    expect(row?.["n"]).toBe(1);
  });
});

/** Returns a statement that copies the audit rows with another value of a column. */
function auditedAs(column: string, value: string): string {
  const row = `jsonb_build_object('id', gen_random_uuid(), '${column}', ${value})`;
  return `INSERT INTO audit_events SELECT (jsonb_populate_record(e, ${row})).* FROM audit_events e`;
}
