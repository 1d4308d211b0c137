import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Principal } from "../../src/call.js";
import { findOffer, findProgramOffer } from "../../src/postgres/tables/appointments/offers.js";
import { transactionOn } from "../support/client-transaction.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { fillSchedule, numbered } from "./schedule-fill.js";

const tenantId = randomUUID();
const organizationId = numbered(50);
const caller = { id: "issuer client", issuer: "issuer", clientId: "client", scopes: new Set<string>() };
const principal: Principal = { ...caller, tenantId, organizationId, companyId: undefined };
/** A slot of the first program, at the second location. */
const SLOT = numbered(1_001);
const serviceId = numbered(1);

let database: TestDatabase;
let client: Client;
const transaction = transactionOn(() => client, tenantId);

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.ownerUrl);
  await client.connect();
  await client.query(`SET cupo.tenant_id = '${tenantId}'`);
  for (const statement of fillSchedule(tenantId, { slotsAhead: 0, slotsBehind: 0 })) await client.query(statement);
  await client.query(`INSERT INTO slots (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at,
      generation)
    SELECT '${tenantId}', '${SLOT}', one, one, one, '2030-01-08', '2030-01-08 08:00-05', '2030-01-08 08:20-05', 1
    FROM (SELECT '${numbered(1)}'::uuid AS one) AS first`);
});

beforeEach(() => client.query("BEGIN"));

afterEach(() => client.query("ROLLBACK"));

afterAll(async () => {
  await client.end();
  await database.drop();
});

describe("a service can be booked in a slot and in its program:", () => {
  test.each<[string, boolean, string]>([
    ["as long as all is active", true, ""],
    ["but not in an inactive program", false, set("programs", 1, "active = false")],
    ["although another program is inactive", true, set("programs", 2, "active = false")],
    ["but not at an inactive location", false, set("locations", 2, "active = false")],
    ["although another location is inactive", true, set("locations", 1, "active = false")],
    ["but not if the service is inactive", false, set("healthcare_services", 1, "active = false")],
    ["although another service is inactive", true, set("healthcare_services", 2, "active = false")],
    ["but not if only other programs offer it", false, "DELETE FROM program_services WHERE program_id = " + id(1)],
    ["although no other program offers it", true, "DELETE FROM program_services WHERE program_id <> " + id(1)],
    ["in a program of the organization", true, set("programs", 1, `organization_id = '${organizationId}'`)],
    ["but not in one of another organization", false, set("programs", 1, `organization_id = ${id(51)}`)],
    ["but not in one of a company", false, set("programs", 1, `company_id = ${id(51)}`)],
  ])("%s", async (_, isOffered, change) => {
    await client.query(change);
    const offer = isOffered ? { locationId: numbered(2), emergency: false } : undefined;
    expect(await findOffer(transaction, principal, { slotId: SLOT, serviceId }, undefined)).toEqual(offer);
    const inProgram = { programId: numbered(1), serviceId };
    expect(await findProgramOffer(transaction, principal, inProgram)).toEqual(offer);
  });
});

function set(table: string, row: number, change: string): string {
  return `UPDATE ${table} SET ${change} WHERE id = ${id(row)}`;
}

function id(n: number): string {
  return `'${numbered(n)}'`;
}
