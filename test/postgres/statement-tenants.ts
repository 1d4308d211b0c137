import { parse } from "libpg-query";

/** The tables distributed by tenant_id, and those among them with columns that get a generated value by default. */
export interface DistributedTables {
  readonly names: ReadonlySet<string>;
  readonly selfFilling: ReadonlySet<string>;
}

/**
 * Returns why Citus could not route a statement to its tenant's shard, one line per reason. Empty if it can. Each query
 * within the statement must state the tenant for each table, as a parameter or constant. A tenant taken from another
 * table, by a join or from an outer query, does not count, because the planner does not see through all of those.
 *
 * Also reports:
 * - inserts that would copy selected rows to another shard, which Citus does not do under row-level security
 * - queries in VALUES or in ON CONFLICT
 * - changes of rows in the WITH of anything but a SELECT
 * - several statements in one text, which Citus forwards to the workers once for each SET in it
 */
export async function strayQueries(text: string, tables: DistributedTables): Promise<string[]> {
  const parsed: unknown = await parse(text);
  const several = listIn(parsed, "stmts").length > 1 ? ["several statements in one text"] : [];
  const queries = [...queriesIn(parsed, new Set())];
  return several.concat(
    queries.flatMap((query) => tablesWithoutTenant(query, tables)),
    queries.flatMap(changesInWith),
    queries.flatMap((query) => straysOfInsert(query, tables)),
  );
}

type Node = Readonly<Record<string, unknown>>;

/** A statement or a query within one, with the names of the WITH parts that are visible in it. */
interface Query {
  readonly kind: string;
  readonly node: Node;
  readonly parts: ReadonlySet<string>;
}

const KINDS = new Set(["SelectStmt", "InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt"]);

function* queriesIn(value: unknown, parts: ReadonlySet<string>): Generator<Query> {
  if (Array.isArray(value)) for (const item of value) yield* queriesIn(item, parts);
  else if (isNode(value)) {
    for (const [key, inner] of Object.entries(value)) {
      if (KINDS.has(key) && isNode(inner)) yield* queryAndBelow(key, inner, parts);
      else yield* queriesIn(inner, parts);
    }
  }
}

/**
 * Yields a query and those below it. The sides of a UNION are queries too, although the parser has no node type for
 * them.
 */
function* queryAndBelow(kind: string, node: Node, outer: ReadonlySet<string>): Generator<Query> {
  const parts = new Set([...outer, ...withOf(node).map(({ name }) => name)]);
  yield { kind, node, parts };
  const { larg, rarg, ...rest } = node;
  for (const side of [larg, rarg]) if (isNode(side)) yield* queryAndBelow(kind, side, parts);
  yield* queriesIn(rest, parts);
}

function withOf(node: Node): { readonly name: string; readonly query: Node }[] {
  return listIn(node, "withClause", "ctes").map((cte) => ({
    name: textIn(cte, "CommonTableExpr", "ctename") ?? "",
    query: nodeIn(cte, "CommonTableExpr", "ctequery"),
  }));
}

function changesInWith({ kind, node }: Query): string[] {
  if (kind === "SelectStmt") return [];
  return withOf(node)
    .filter(({ query }) => !("SelectStmt" in query))
    .map(({ name }) => `${name} changes rows in the WITH of a statement that does`);
}

function tablesWithoutTenant({ kind, node, parts }: Query, tables: DistributedTables): string[] {
  const found: { readonly name: string; readonly alias: string }[] = [];
  const conditions = conjunctsOf(node["whereClause"]);
  const walk = (item: Node) => {
    const join = nodeIn(item, "JoinExpr");
    if ("jointype" in join) {
      walk(nodeIn(join, "larg"));
      walk(nodeIn(join, "rarg"));
      conditions.push(...conjunctsOf(join["quals"]));
    }
    const name = textIn(item, "RangeVar", "relname");
    if (name === undefined || parts.has(name) || !tables.names.has(name)) return;
    if (textIn(item, "RangeVar", "schemaname") !== undefined) return;
    found.push({ name, alias: textIn(item, "RangeVar", "alias", "aliasname") ?? name });
  };
  if (kind === "UpdateStmt" || kind === "DeleteStmt") walk({ RangeVar: node["relation"] });
  for (const item of [...listIn(node, "fromClause"), ...listIn(node, "usingClause")]) walk(item);
  const [only] = found;
  return found
    .filter(
      ({ alias }) => !conditions.some((each) => statesTenant(each, alias, found.length === 1 && only?.alias === alias)),
    )
    .map(({ name, alias }) => `${name === alias ? name : `${name} ${alias}`} without its tenant`);
}

function conjunctsOf(condition: unknown): Node[] {
  if (!isNode(condition)) return [];
  if (at(condition, "BoolExpr", "boolop") !== "AND_EXPR") return [condition];
  return listIn(condition, "BoolExpr", "args").flatMap(conjunctsOf);
}

function statesTenant(condition: Node, alias: string, isOnlyTable: boolean): boolean {
  const equation = nodeIn(condition, "A_Expr");
  const [operator] = listIn(equation, "name");
  if (equation["kind"] !== "AEXPR_OP" || at(operator, "String", "sval") !== "=") return false;
  const sides = [nodeIn(equation, "lexpr"), nodeIn(equation, "rexpr")];
  const isTenant = (side: Node) => {
    const [column, table] = namesOf(side).toReversed();
    return column === "tenant_id" && (table === undefined ? isOnlyTable : table === alias);
  };
  return sides.some(isTenant) && sides.some(isValue);
}

function isValue(node: Node): boolean {
  return "ParamRef" in node || "A_Const" in node || ("TypeCast" in node && isValue(nodeIn(node, "TypeCast", "arg")));
}

/** Returns the name parts of a column, with the table's first if present. */
function namesOf(node: Node): string[] {
  return listIn(node, "ColumnRef", "fields").map((field) => textIn(field, "String", "sval") ?? "");
}

function straysOfInsert({ kind, node }: Query, { names, selfFilling }: DistributedTables): string[] {
  const table = textIn(node, "relation", "relname") ?? "";
  if (kind !== "InsertStmt" || !names.has(table)) return [];
  const select = nodeIn(node, "selectStmt", "SelectStmt");
  const place = listIn(node, "cols").findIndex((column) => at(column, "ResTarget", "name") === "tenant_id");
  const rows = listIn(select, "valuesLists");
  const isQueried = (value: unknown) => JSON.stringify(value ?? null).includes('"SubLink"');
  const strays: string[] = [];
  if (isQueried(node["onConflictClause"])) strays.push(`${table} with a query in ON CONFLICT`);
  if (rows.length > 0) {
    if (rows.some((row) => !isValue(listIn(row, "List", "items")[place] ?? {})))
      strays.push(`${table} without its tenant`);
    return isQueried(rows) ? [...strays, `${table} with a query in VALUES`] : strays;
  }
  const tenant = nodeIn(listIn(select, "targetList")[place], "ResTarget", "val");
  if (namesOf(tenant).at(-1) !== "tenant_id") strays.push(`${table} from rows without a tenant`);
  const isCopied = node["onConflictClause"] === undefined && !hasReturning(node);
  return isCopied && selfFilling.has(table)
    ? [...strays, `${table} from a query, filled anew, with no RETURNING`]
    : strays;
}

function hasReturning(node: Node): boolean {
  return node["returningList"] !== undefined || node["returningClause"] !== undefined;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null;
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((held, key) => (isNode(held) ? held[key] : undefined), value);
}

function nodeIn(value: unknown, ...path: readonly string[]): Node {
  const found = at(value, ...path);
  return isNode(found) ? found : {};
}

function textIn(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === "string" ? found : undefined;
}

function listIn(value: unknown, ...path: readonly string[]): Node[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter(isNode) : [];
}
