import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { ReadyCall, Transaction } from "../../src/call.js";
import type { ExportTenantRequestValid } from "../../src/gen/cupo/clinic/v1/tenant_service_pb.js";
import { withinTenant } from "../../src/postgres/tables/tenants/tenant-scope.js";
import { readTenantTables } from "../../src/postgres/tables/tenants/tenant-tables.js";
import { nextFrom } from "../../src/services/resources/pages.js";
import { exportTenant } from "../../src/services/tenants/export-tenant.js";

const tenantId = randomUUID();

test("a table comes before the tables that it refers to", async () => {
  const tables = [table("patients"), table("notes", ["patients", "appointments"]), table("appointments", ["patients"])];
  expect(await namesOf(tables)).toEqual(["notes", "appointments", "patients"]);
});

test("tables that refer to each other have no order", async () => {
  const tables = [table("chickens", ["eggs"]), table("eggs", ["chickens"]), table("farms", ["eggs"])];
  await expect(namesOf(tables)).rejects.toThrow("these tables refer to each other: chickens,eggs");
});

test("a transaction enters no tenant whose id is not a lower-case UUID", async () => {
  const sent: unknown[] = [];
  const transaction = { ...transactionOf([]), send: (statement: unknown) => void sent.push(statement) };
  for (const id of [tenantId.toUpperCase(), "'; RESET cupo.tenant_id; --"])
    await expect(withinTenant(transaction, id, async () => 1)).rejects.toThrow("must be a lower-case UUID");
  expect(sent).toEqual([]);
});

/** An older release may have issued a token for other tables. */
test.each([[["[1]", "farms"]], [["[1]", "eggs", "a", "b"]], [["[1,2]", "eggs"]]])(
  "an export continues from no position that the tables do not have: %j",
  async (position) => {
    const request = {
      tenantId,
      pageToken: nextFrom(position, "tenant export", [tenantId]).nextPageToken,
    } as ExportTenantRequestValid;
    const page = exportTenant(request, {} as ReadyCall, (work) => work(transactionOf([table("eggs")])));
    await expect(page).rejects.toThrow(expect.objectContaining({ code: "VALIDATION_FAILED" }));
  },
);

function table(name: string, refers: readonly string[] = []) {
  return { name, keys: ["id"], types: ["uuid"], refers };
}

async function namesOf(tables: readonly object[]): Promise<string[]> {
  return (await readTenantTables(transactionOf(tables))).map(({ name }) => name);
}

/** A transaction in which every query returns these rows. */
function transactionOf(rows: readonly object[]): Transaction {
  return {
    tenantId,
    rows: async <Row>() => rows as Row[],
    send: () => undefined,
    require: () => undefined,
  };
}
