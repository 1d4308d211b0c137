import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Principal, Transaction } from "../../src/call.js";
import { payers } from "../../src/postgres/tables/catalogs/catalogs.js";
import { findPatientNames } from "../../src/postgres/tables/patients/patients.js";
import { findResources, findVisibleIds } from "../../src/postgres/tables/resources/resources.js";
import { readExistingFeed } from "../../src/services/events/read-placed.js";
import { principalIn } from "../events/feed-under-test.js";

const tenantId = randomUUID();
const principal: Principal = principalIn(tenantId);
const unused = () => expect.unreachable("there is nothing to look up");
const silent: Transaction = { tenantId, rows: unused, send: unused, require: unused };

test("a look-up of no ids sends no statement", async () => {
  expect(await findPatientNames(silent, [])).toEqual(new Map());
  expect(await findResources(silent, principal, payers, [])).toEqual(new Map());
  expect(await findVisibleIds(silent, principal, payers, [])).toEqual(new Set());
});

test("a feed that was never created cannot be read", async () => {
  const empty: Transaction = { ...silent, rows: async () => [] };
  await expect(readExistingFeed(empty, 0, 1)).rejects.toThrow("the feed of the tenant was not created");
});
