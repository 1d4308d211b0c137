import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/postgres/database.js";
import { optionTokenKeys, webhookKeys } from "../../src/postgres/tables/appointments/option-token-keys.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { openServiceDatabase } from "../support/open-service-database.js";

let created: TestDatabase;
let database: Database;

beforeAll(async () => {
  created = await createTestDatabase();
  database = openServiceDatabase(created.url);
});

afterAll(async () => {
  await database.close();
  await created.drop();
});

test("the keys of option tokens are kept until they are removed, apart from those of webhooks", async () => {
  const [first, second] = ["AAAAAAAA", "BBBBBBBB"].map((kid, n) => ({
    kid,
    secret: new Uint8Array(32).fill(n),
    createdAtMs: n,
  }));
  const keys = optionTokenKeys(database);
  for (const key of [first, second]) if (key !== undefined) await keys.add(key);
  expect(await loaded(keys)).toEqual([first, second]);
  await keys.remove(["AAAAAAAA", "CCCCCCCC"]);
  expect([await loaded(keys), await loaded(webhookKeys(database))]).toEqual([[second], []]);
});

async function loaded(keys: ReturnType<typeof optionTokenKeys>): Promise<unknown[]> {
  const found = await keys.load();
  return found
    .map(({ kid, secret, createdAtMs }) => ({ kid, secret: new Uint8Array(secret), createdAtMs }))
    .toSorted((a, b) => (a.kid < b.kid ? -1 : 1));
}
