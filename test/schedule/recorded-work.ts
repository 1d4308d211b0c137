import { Client, types } from "pg";
import type { Statement, Transaction } from "../../src/call.js";
import type { TestService } from "../support/service.js";

/** A node of a plan in the format of EXPLAIN (ANALYZE, FORMAT JSON). */
interface PlanNode {
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Join Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** OID of the type `date`. The service reads dates as text. */
const DATE = 1082;

/**
 * Runs work in a transaction of a tenant and rolls it back. Returns the largest number of rows that any plan node
 * processed, including rows removed by filters. A quadratic plan shows up in this number, independent of time.
 */
export async function mostRowsOf(
  { databaseUrl }: TestService,
  tenantId: string,
  work: (transaction: Transaction) => Promise<unknown>,
): Promise<number> {
  const client = new Client({
    connectionString: databaseUrl,
    types: { getTypeParser: (oid: number) => (oid === DATE ? String : types.getTypeParser(oid)) },
  });
  await client.connect();
  const counts: number[] = [];
  let sent: Promise<unknown> = client.query("BEGIN");
  const inTurn = <Result>(next: () => Promise<Result>): Promise<Result> => {
    const before = sent;
    const run = async () => {
      await before;
      return next();
    };
    const done = run();
    sent = done;
    return done;
  };
  const explain = async (statement: Statement) => {
    const { sql, bindings } = statement.toSQL().toNative();
    const isSetting = sql.startsWith("SET ");
    const explained = isSetting ? sql : `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`;
    const { rows } = await client.query(explained, bindings as unknown[]);
    if (!isSetting) counts.push(mostRows(rows[0]["QUERY PLAN"][0].Plan));
  };
  try {
    await inTurn(() => client.query(`SET LOCAL cupo.tenant_id = '${tenantId}'`));
    await work({
      tenantId,
      send: (statement) => void inTurn(() => explain(statement)),
      require: () => {
        throw new Error("unexpected require(): materialization requires no row");
      },
      rows: <Row extends object>(statement: Statement) =>
        inTurn(async () => {
          await explain(statement);
          const { sql, bindings } = statement.toSQL().toNative();
          return (await client.query<Row>(sql, bindings as unknown[])).rows;
        }),
    });
    await sent;
    return Math.max(...counts);
  } finally {
    await client.end();
  }
}

function mostRows(node: PlanNode): number {
  const removed = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Join Filter"] ?? 0);
  const own = (node["Actual Rows"] + removed) * node["Actual Loops"];
  return Math.max(own, ...(node.Plans ?? []).map(mostRows));
}
