import { Client } from "pg";
import { expect, test } from "vitest";
import { createTestDatabase, execute } from "./database.js";

test("gives each caller its own migrated database, even with concurrent callers", async () => {
  const databases = await Promise.all(Array.from({ length: 8 }, () => createTestDatabase()));
  expect(new Set(databases.map(({ url }) => url)).size).toBe(8);
  const [first, second] = databases;
  await execute(`${first?.ownerUrl}`, "CREATE TABLE mine ()");
  await expect(execute(`${second?.ownerUrl}`, "SELECT FROM mine")).rejects.toThrow("does not exist");
  const migrations = await execute(`${second?.adminUrl}`, "SELECT count(*)::int AS count FROM schema_migrations");
  expect(migrations[0]?.["count"]).toBeGreaterThan(0);
  await Promise.all(databases.map((database) => database.drop()));
});

test("has a service role and an owner role, both subject to row-level security", async () => {
  const database = await createTestDatabase();
  const standing = `SELECT rolsuper, rolbypassrls, oid = (SELECT datdba FROM pg_database
    WHERE datname = current_database()) AS owner FROM pg_roles WHERE rolname = current_user`;
  const roles = await Promise.all([database.url, database.ownerUrl].map((url) => execute(url, standing)));
  const bound = { rolsuper: false, rolbypassrls: false };
  expect(roles.flat()).toEqual([
    { ...bound, owner: database.url === database.ownerUrl },
    { ...bound, owner: true },
  ]);
  await database.drop();
});

test("can be dropped while a client is connected, and dropped twice", async () => {
  const database = await createTestDatabase();
  const client = new Client(database.url);
  await client.connect();
  const ended = new Promise((resolve) => client.on("error", () => undefined).once("end", resolve));
  await database.drop();
  await ended;
  await database.drop();
  await expect(execute(database.url, "SELECT 1")).rejects.toThrow("does not exist");
});
