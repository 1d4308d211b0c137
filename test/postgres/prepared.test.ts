import { expect, test } from "vitest";
import { prepared } from "../../src/postgres/prepared.js";
import { sql } from "../../src/postgres/sql.js";

const insert = prepared(["a", "b"], (row) => sql("things").insert(row).onConflict().ignore().returning("a"));

test("sends the text that Knex builds for the statement with its values", () => {
  const values = { a: Buffer.from("1"), b: "x" };
  const built = sql("things").insert(values).onConflict().ignore().returning("a");
  expect(insert(values).toSQL().toNative()).toEqual(native(built));
});

test("binds each value once, in any order of the names, and keeps constants", () => {
  const update = prepared(["id", "name"], ({ id, name }) =>
    sql("things").where({ id }).whereRaw("name <> ? AND kind = ?", [name, "fixed"]).update({ name }),
  );
  expect(update({ name: "new", id: 7 }).toSQL().toNative()).toEqual({
    sql: 'update "things" set "name" = $1 where "id" = $2 and name <> $1 AND kind = $3',
    bindings: ["new", 7, "fixed"],
  });
});

test("keeps the values of calls apart", () => {
  const first = insert({ a: 1, b: 2 });
  insert({ a: 3, b: 4 });
  expect(first.toSQL().toNative().bindings).toEqual([1, 2]);
});

test("binds a list as one value", () => {
  const select = prepared(["ids"], ({ ids }) => sql("things").whereRaw("id = ANY(?::uuid[])", [ids]).select("id"));
  expect(
    select({ ids: ["x", "y"] })
      .toSQL()
      .toNative().bindings,
  ).toEqual([["x", "y"]]);
});

test("binds null, and rejects a missing value", () => {
  expect(insert({ a: null, b: 0 }).toSQL().toNative().bindings).toEqual([null, 0]);
  expect(() => insert({ a: 1, b: undefined })).toThrow("no value for b");
});

test("rejects a statement that does not use one of its names", () => {
  expect(() => prepared(["a", "b"], ({ a }) => sql("things").insert({ a }))({ a: 1, b: 2 })).toThrow("not bound: b");
});

function native(built: { toSQL(): { toNative(): { sql: string; bindings: readonly unknown[] } } }) {
  const { sql: text, bindings } = built.toSQL().toNative();
  return { sql: text, bindings };
}
