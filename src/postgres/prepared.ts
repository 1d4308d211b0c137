import type { Knex } from "knex";
import type { RequiredStatement, Statement } from "../call.js";
import { sql } from "./sql.js";

/**
 * A placeholder for the value `name` while a statement's text is compiled. Knex puts the placeholder unchanged into the
 * bindings of the compiled statement.
 */
export class Parameter {
  readonly [key: string]: unknown;

  constructor(readonly name: string) {}
}

/** The values for building a statement. Each is a text, or a {@link Parameter} that stands for a text. */
export type Bound<Name extends string> = Readonly<Record<Name, string | Parameter>>;

/**
 * Returns a function that binds values to a statement. The statement is compiled once, at its first use. With Knex,
 * building and compiling a statement takes longer than all other work of a call before the statement is sent.
 *
 * - `build` receives a parameter for each name and never a value, so the text cannot depend on values. A statement
 *   whose columns or conditions depend on values must be built for each call.
 * - A comparison with a null value does not become IS NULL. So pass null only for columns that are written, or for
 *   conditions that handle null themselves.
 * - A name becomes one parameter of the statement, so all places that use the name must have the same type.
 *
 * The returned function throws if `build` does not bind the parameter of each name, or if a value is undefined.
 */
export function prepared<Name extends string>(
  names: readonly Name[],
  build: (parameters: Readonly<Record<Name, Parameter>>) => Knex.QueryBuilder | Knex.Raw,
): (values: Readonly<Record<Name, unknown>>) => Statement {
  let statement: Native | undefined;
  return (values) => bound((statement ??= withoutRepetition(compiled(names, build))), values);
}

interface Native {
  readonly sql: string;
  readonly bindings: readonly unknown[];
}

function compiled<Name extends string>(
  names: readonly Name[],
  build: (parameters: Readonly<Record<Name, Parameter>>) => Knex.QueryBuilder | Knex.Raw,
): Native {
  const parameters = Object.fromEntries(names.map((name) => [name, new Parameter(name)]));
  const native = build(parameters as Record<Name, Parameter>)
    .toSQL()
    .toNative();
  const unused = names.filter((name) => !native.bindings.includes(parameters[name] as Parameter));
  if (unused.length > 0) throw new Error(`parameters not bound: ${unused.join(", ")} in ${native.sql}`);
  return native;
}

/** Replaces all bindings of the same {@link Parameter} with one parameter of the statement. */
function withoutRepetition({ sql: text, bindings }: Native): Native {
  const kept: unknown[] = [];
  const numbers = bindings.map((binding) => {
    const known = binding instanceof Parameter ? kept.indexOf(binding) : -1;
    return known < 0 ? kept.push(binding) : known + 1;
  });
  return { sql: text.replaceAll(/\$(\d+)/g, (_, place) => `$${numbers[Number(place) - 1]}`), bindings: kept };
}

function bound({ sql: text, bindings }: Native, values: Readonly<Record<string, unknown>>): Statement {
  const all = bindings.map((binding) => (binding instanceof Parameter ? valueOf(values, binding) : binding));
  const native = { sql: text, bindings: all };
  return { toSQL: () => ({ toNative: () => native }) };
}

/**
 * Like {@link prepared}, for a statement with RETURNING that must write a row, such as an INSERT with ON CONFLICT DO
 * NOTHING. If the statement writes no row, it fails by a division by zero. This error is used because PostgreSQL logs
 * no value of the row with it.
 */
export function preparedRequired<Name extends string>(
  names: readonly Name[],
  build: (parameters: Readonly<Record<Name, Parameter>>) => Knex.QueryBuilder | Knex.Raw,
): (values: Readonly<Record<Name, unknown>>) => RequiredStatement {
  const bind = prepared(names, (parameters) =>
    sql.queryBuilder().with("written", build(parameters)).select(sql.raw("1 / count(*)")).from("written"),
  );
  return (values) => ({ required: bind(values) });
}

function valueOf(values: Readonly<Record<string, unknown>>, { name }: Parameter): unknown {
  const value = values[name];
  if (value === undefined) throw new Error(`no value for ${name}`);
  return value;
}
