import { readFile } from "node:fs/promises";
import { parse } from "libpg-query";
import { describe, expect, test } from "vitest";
import { knownMigrations, MIGRATIONS_FOLDER } from "../../src/postgres/migration/known-migrations.js";
import { splitStatements } from "../../src/postgres/migration/split-statements.js";

describe("the statements of a migration", () => {
  test("are those that PostgreSQL's parser finds, in every migration", async () => {
    const names = await knownMigrations();
    expect(names.length).toBeGreaterThan(30);
    for (const name of names) {
      const sql = await readFile(new URL(`${name}.sql`, MIGRATIONS_FOLDER), "utf8");
      const each = await Promise.all(splitStatements(sql).map(parsed));
      expect({ name, counts: each.map(({ length }) => length) }).toEqual({ name, counts: each.map(() => 1) });
      expect({ name, statements: each.flat() }).toEqual({ name, statements: await parsed(sql) });
    }
  });

  test.each([
    ["a semicolon in a comment", "SELECT 1 -- one; two\n; /* a; b */ SELECT 2", ["SELECT 1 -- one; two", "SELECT 2"]],
    ["a semicolon in a literal", "SELECT 'a;''b'; SELECT e'\\';'", ["SELECT 'a;''b'", "SELECT e'\\';'"]],
    ["a semicolon in a name", 'SELECT 1 AS "a;b"; SELECT 2', ['SELECT 1 AS "a;b"', "SELECT 2"]],
    ["a quote in a comment", "-- it's\nSELECT 1;\n-- it isn't\nSELECT 2;\n-- end", ["SELECT 1", "SELECT 2"]],
    ["a dollar-quoted body in another", "DO $a$ SELECT $$;$$; $a$; SELECT 2", ["DO $a$ SELECT $$;$$; $a$", "SELECT 2"]],
    [
      "a body of SQL with a CASE",
      "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END; BEGIN; SELECT 3",
      [
        "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END",
        "BEGIN",
        "SELECT 3",
      ],
    ],
    ["nothing but comments", "-- nothing;\n/* at all */", []],
  ])("do not end at %s", async (_, sql, statements) => {
    expect(splitStatements(sql)).toEqual(statements);
    expect(await parsed(sql)).toHaveLength(statements.length);
  });
});

/** Parses a text with PostgreSQL's parser. Returns the statements without their positions. */
async function parsed(sql: string): Promise<unknown[]> {
  const { stmts = [] } = await parse(sql);
  const isPlace = (key: string) => /(^|_)(location|len|list_start|list_end)$/.test(key);
  return JSON.parse(JSON.stringify(stmts, (key, value: unknown) => (isPlace(key) ? undefined : value)));
}
