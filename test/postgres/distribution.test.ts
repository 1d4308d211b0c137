import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { knownMigrations, MIGRATIONS_FOLDER } from "../../src/postgres/migration/known-migrations.js";
import { splitStatements } from "../../src/postgres/migration/split-statements.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { readDistributedTables } from "./distributed-tables.js";

const text = readFileSync(new URL("../../deploy/citus/distribute.sql", import.meta.url), "utf8");
const distributed = [
  ...text.matchAll(/^SELECT create_distributed_table\('(\w+)', 'tenant_id', colocate_with => '(\w+)'\);$/gm),
];
const order = distributed.map(([, table = ""]) => table);

/** Tables without a tenant. */
const LOCAL = [
  "option_token_keys",
  "schema_compatibility",
  "schema_migrations",
  "schema_migrations_lock",
  "schema_partitions",
  "webhook_keys",
];

/** Partitioned tables. Distributing them distributes their partitions too. */
const PARTED = ["appointment_history", "audit_events", "patient_access_records"];

/** Policies for operations on all tenants, which do not check the tenant. They restrict rows by other conditions. */
const ACROSS_TENANTS = [
  "appointment_holds.overview",
  "appointment_holds.purge_delete",
  "appointment_holds.purge_read",
  "appointments.due_events",
  "consumed_option_tokens.purge_delete",
  "consumed_option_tokens.purge_read",
  "event_feeds.due_events",
  "event_feeds.overview",
  "event_outbox.overview",
  "event_positions.purge_delete",
  "event_positions.purge_read",
  "freed_slots.due_slots",
  "idempotency_keys.purge_delete",
  "idempotency_keys.purge_read",
  "locations.jobs_read",
  "opportunity_changes.jobs_read",
  "opportunity_states.jobs",
  "program_services.jobs_read",
  "programs.jobs_read",
  "quota_windows.purge_delete",
  "quota_windows.purge_read",
  "tenant_settings.due_events",
  "tenant_settings.jobs_read",
  "tenants.overview",
  "time_event_progress.due_events",
  "waitlist_entries.due_events",
  "webhook_deliveries.overview",
  "webhook_deliveries.purge_delete",
  "webhook_deliveries.purge_read",
  "webhooks.overview",
];

/** Later migrations are applied to clusters whose tables are distributed. */
const BEFORE_CITUS = "0031-history-partitioned";
const CONSTRAINED_COLUMN = /\bADD COLUMN\b[^,]*\b(?:CHECK|REFERENCES|UNIQUE|PRIMARY KEY)\b/;
/** A statement that Citus runs on all shards at once, and its table. */
const CHANGED_TABLE = /^(?:ALTER TABLE|CREATE (?:UNIQUE )?INDEX \w+\s+ON|(?:CREATE|ALTER|DROP) POLICY \w+ ON) (\w+)/;

/** The longest name that a shard's number can be added to within 63 bytes. */
const MAX_NAME = 63 - "_102008".length;

let database: TestDatabase;
let tables: ReadonlySet<string>;

beforeAll(async () => {
  database = await createTestDatabase();
  tables = (await readDistributedTables(database.adminUrl)).names;
});

afterAll(() => database.drop());

describe("deploy/citus/distribute.sql", () => {
  test("distributes each table of tenants once, colocated with the first, and no other table", async () => {
    expect(order.toSorted()).toEqual([...tables].toSorted());
    expect(distributed.map(([, , beside]) => beside)).toEqual(["none", ...order.slice(1).map(() => order[0])]);
    expect(text.match(/create_distributed_table/g)).toHaveLength(order.length);
  });

  test("names each other table as one that stays on the coordinator", async () => {
    const others = await rows(
      `SELECT relname FROM pg_class WHERE relkind = 'r' AND NOT relispartition AND relnamespace = 'public'::regnamespace`,
    );
    const names = others.map(({ relname }) => String(relname)).filter((name) => !tables.has(name));
    expect(names.toSorted()).toEqual(LOCAL);
    const stay = /stay on the coordinator[^:]*:([^.]*)\./.exec(text)?.[1] ?? "";
    expect(LOCAL.filter((name) => !new RegExp(`\\b${name}\\b`).test(stay))).toEqual([]);
  });

  test("lists a table after those that it refers to", async () => {
    const references = await rows(
      `SELECT conrelid::regclass::text AS source, confrelid::regclass::text AS target FROM pg_constraint
       WHERE contype = 'f' AND connamespace = 'public'::regnamespace AND conrelid <> confrelid AND conparentid = 0`,
    );
    expect(references.length).toBeGreaterThan(30);
    const early = references.filter(
      ({ source, target }) => order.indexOf(String(source)) < order.indexOf(String(target)),
    );
    expect(early).toEqual([]);
  });

  test("distributes every function that a policy calls", async () => {
    const called = await rows(
      `SELECT DISTINCT d.refobjid::regprocedure::text AS name FROM pg_depend d JOIN pg_policy p ON p.oid = d.objid
       WHERE d.classid = 'pg_policy'::regclass AND d.refclassid = 'pg_proc'::regclass`,
    );
    const handedOut = [...text.matchAll(/create_distributed_function\('([^']+)'\)/g)].map(([, name = ""]) => name);
    expect(called.map(({ name }) => String(name)).toSorted()).toEqual(handedOut.toSorted());
  });
});

describe("a migration", () => {
  test("creates an extension only after checking that it is missing: Citus forwards IF NOT EXISTS to workers, where the role has no right", async () => {
    const names = await knownMigrations();
    const texts = await Promise.all(names.map((name) => readFile(new URL(`${name}.sql`, MIGRATIONS_FOLDER), "utf8")));
    const statements = texts.flatMap(splitStatements);
    expect(statements.filter((statement) => statement.includes("CREATE EXTENSION"))).toHaveLength(1);
    expect(statements.filter((statement) => /CREATE EXTENSION IF NOT EXISTS/i.test(statement))).toEqual([]);
  });

  test("adds the constraint of a column by itself, and creates functions before it changes tables that may be distributed", async () => {
    const names = (await knownMigrations()).filter((name) => name > BEFORE_CITUS);
    for (const name of names) {
      const statements = splitStatements(await readFile(new URL(`${name}.sql`, MIGRATIONS_FOLDER), "utf8"));
      expect(
        statements.filter((statement) => CONSTRAINED_COLUMN.test(statement)),
        name,
      ).toEqual([]);
      const made = new Set(statements.map((statement) => /^CREATE TABLE (\w+)/.exec(statement)?.[1]));
      const tablesOf = statements.map((statement) => CHANGED_TABLE.exec(statement)?.[1]);
      const changes = tablesOf.map((table) => table !== undefined && !made.has(table));
      const after = changes.includes(true) ? statements.slice(changes.indexOf(true)) : [];
      expect(
        after.filter((statement) => /^CREATE (?:OR REPLACE )?FUNCTION/.test(statement)),
        name,
      ).toEqual([]);
    }
  });
});

describe("a table of tenants has the tenant_id in", () => {
  test("every primary key and unique index", async () => {
    const without = await rows(
      `SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indisunique AND indrelid = ANY(${ofTenants()})
         AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = indrelid AND attname = 'tenant_id' AND attnum = ANY(indkey))`,
    );
    expect(without).toEqual([]);
  });

  test("each exclusion constraint, compared for equality", async () => {
    const exclusions = await rows(
      `SELECT conname, EXISTS (SELECT FROM unnest(conkey, conexclop) AS part (attribute, operator)
          JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = part.attribute
          WHERE a.attname = 'tenant_id' AND part.operator = '=(uuid,uuid)'::regoperator) AS holds
       FROM pg_constraint WHERE contype = 'x' AND conrelid = ANY(${ofTenants()})`,
    );
    expect(exclusions.length).toBeGreaterThan(0);
    expect(exclusions.filter(({ holds }) => holds !== true)).toEqual([]);
  });

  test("each foreign key, at the same position on both sides, and refers only to tables of tenants", async () => {
    const without = await rows(
      `SELECT conname FROM pg_constraint WHERE contype = 'f' AND conparentid = 0 AND (conrelid = ANY(${ofTenants()}) OR confrelid = ANY(${ofTenants()}))
         AND NOT (conrelid = ANY(${ofTenants()}) AND confrelid = ANY(${ofTenants()}) AND EXISTS (
           SELECT FROM unnest(conkey, confkey) AS part (source, target)
           JOIN pg_attribute s ON s.attrelid = conrelid AND s.attnum = part.source AND s.attname = 'tenant_id'
           JOIN pg_attribute t ON t.attrelid = confrelid AND t.attnum = part.target AND t.attname = 'tenant_id'))`,
    );
    expect(without).toEqual([]);
  });

  test("each policy, except those for all tenants", async () => {
    const without = await rows(
      `SELECT polrelid::regclass || '.' || polname AS name FROM pg_policy WHERE polrelid = ANY(${ofTenants()})
         AND NOT (coalesce(pg_get_expr(polqual, polrelid) ~ '^\\(?\\(tenant_id = cupo_tenant_id\\(\\)\\)( AND |$)', true)
           AND coalesce(pg_get_expr(polwithcheck, polrelid) ~ '^\\(?\\(tenant_id = cupo_tenant_id\\(\\)\\)( AND |$)', true))`,
    );
    expect(without.map(({ name }) => String(name)).toSorted()).toEqual(ACROSS_TENANTS);
  });
});

describe("a table of tenants has nothing that a distributed table cannot have:", () => {
  test("no trigger of its own and no rule", async () => {
    expect(
      await rows(`SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgrelid = ANY(${ofTenants()})`),
    ).toEqual([]);
    expect(await rows(`SELECT rulename FROM pg_rewrite WHERE ev_class = ANY(${ofTenants()})`)).toEqual([]);
  });

  test("no sequence except bigint identities, no type of its own, and no view on it", async () => {
    const filled = await rows(
      `SELECT attrelid::regclass || '.' || attname AS name, atttypid::regtype::text AS type FROM pg_attribute
       WHERE attrelid = ANY(${ofTenants()}) AND attidentity <> ''`,
    );
    expect(filled).toEqual([{ name: "event_outbox.sequence", type: "bigint" }]);
    const made = await rows(
      `SELECT attrelid::regclass || '.' || attname AS name FROM pg_attribute JOIN pg_type t ON t.oid = atttypid
       WHERE attrelid = ANY(${ofTenants()}) AND attnum > 0 AND NOT attisdropped
         AND (t.typnamespace <> 'pg_catalog'::regnamespace OR EXISTS (
           SELECT FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum AND pg_get_expr(adbin, adrelid) LIKE '%nextval%'))`,
    );
    expect(made).toEqual([]);
    const views =
      "SELECT relname FROM pg_class WHERE relkind IN ('v', 'm', 'f') AND relnamespace = 'public'::regnamespace";
    expect(await rows(views)).toEqual([]);
  });

  test("no partitions, except by range, with the tenant in the key, and no nested ones", async () => {
    const parted = await rows(
      `SELECT relname AS name, partstrat AS strategy FROM pg_partitioned_table JOIN pg_class ON pg_class.oid = partrelid
       WHERE NOT relispartition ORDER BY relname`,
    );
    expect(parted).toEqual(PARTED.map((name) => ({ name, strategy: "r" })));
    expect(await rows("SELECT relname FROM pg_class WHERE relkind = 'p' AND relispartition")).toEqual([]);
  });

  test("no unique index with a name too long for a shard's number", async () => {
    const names = await rows(
      `SELECT relname AS name FROM pg_class WHERE oid IN (
         SELECT indexrelid FROM pg_index WHERE indisunique AND indrelid = ANY(${ofTenants()}))`,
    );
    const bad = names.map(({ name }) => String(name)).filter((name) => name.length > MAX_NAME || /_\d+$/.test(name));
    expect(bad).toEqual([]);
  });
});

function ofTenants(): string {
  return `ARRAY[${[...tables].map((name) => `'${name}'::regclass`).join(", ")}]::oid[]`;
}

function rows(statement: string): Promise<Record<string, unknown>[]> {
  return execute(database.adminUrl, statement);
}
