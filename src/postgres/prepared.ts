import type { Knex } from "knex";
import type { RequiredStatement, Statement } from "../call.js";
import { sql } from "./sql.js";

/** What stands for a value while the text of a statement is made. Knex binds it like any value that it does not know. */
export class Parameter {
  readonly [key: string]: unknown;

  constructor(readonly name: string) {}
}

/** Values that a statement is built with: those of one call, or parameters in their places. */
export type Bound<Name extends string> = Readonly<Record<Name, string | Parameter>>;

/**
 * Compiles a statement once, when its module is loaded, and gives a function that binds values to it. To build and compile
 * a statement anew takes Knex more time than everything else on its way to the server.
 *
 * `build` is called with a parameter for each name and never sees a value, so the text cannot depend on one: where the
 * columns or the conditions of a statement do, it is built for each call instead. A parameter stands wherever Knex binds a
 * value; `IS NULL` is not what an equation with a parameter becomes, so null is for columns that are written, or for
 * conditions that say so themselves. Throws where a parameter was not bound exactly as a value would be, and the function
 * throws where a value is undefined, because Knex would refuse it too.
 */
export function prepared<Name extends string>(
  names: readonly Name[],
  build: (parameters: Readonly<Record<Name, Parameter>>) => Knex.QueryBuilder | Knex.Raw,
): (values: Readonly<Record<Name, unknown>>) => Statement {
  const parameters = Object.fromEntries(names.map((name) => [name, new Parameter(name)]));
  const { sql: text, bindings } = build(parameters as Record<Name, Parameter>)
    .toSQL()
    .toNative();
  const unused = names.filter((name) => !bindings.includes(parameters[name] as Parameter));
  if (unused.length > 0) throw new Error(`not bound: ${unused.join(", ")} in ${text}`);
  return (values: Readonly<Record<string, unknown>>) => {
    const bound = bindings.map((binding) => (binding instanceof Parameter ? valueOf(values, binding) : binding));
    const native = { sql: text, bindings: bound };
    return { toSQL: () => ({ toNative: () => native }) };
  };
}

/**
 * Like {@link prepared}, for a statement with RETURNING that may write no row, such as an INSERT with ON CONFLICT DO NOTHING
 * or an UPDATE with a condition: it fails where it wrote none, by a division by zero, of which PostgreSQL's log tells no value of
 * the row.
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
