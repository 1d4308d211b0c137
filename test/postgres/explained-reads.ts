import { randomUUID } from "node:crypto";
import { type Client, escapeLiteral } from "pg";
import { expect } from "vitest";
import type { Statement, Transaction } from "../../src/call.js";

/** The connection and tenant for which plans are checked. */
export interface ExplainContext {
  readonly client: Client;
  readonly tenantId: string;
  /** Tables of which no plan may read all rows. */
  readonly largeTables: ReadonlySet<string>;
}

/** The limits of a plan. */
export interface PlanLimits {
  readonly mode: string;
  /** The largest number of blocks of all statements together. */
  readonly blocks: number;
  /** The largest number of rows of a single plan node. */
  readonly rows: number;
}

/** A node of a plan, in the format of EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON). */
interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly PlanNode[];
}

/**
 * Runs a read in a transaction of the tenant with this plan_cache_mode. Requires that it stays within the limits and
 * reads large tables by indexes. Returns its result.
 */
export function expectFewBlocks<T>(
  context: ExplainContext,
  limits: PlanLimits,
  read: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return heldTo(context, limits, async (plans) =>
    read(explaining(context, limits, plans, (name) => rowsOf(context, name))),
  );
}

/**
 * Checks a read of a single statement as {@link expectFewBlocks} does, but runs it once instead of twice and returns no
 * result.
 */
export async function expectFewBlocksOfOne(
  context: ExplainContext,
  limits: PlanLimits,
  read: (transaction: Transaction) => Promise<unknown>,
): Promise<void> {
  await heldTo(context, limits, async (plans) => {
    await read(explaining(context, limits, plans, async () => []));
    expect(plans).toHaveLength(1);
  });
}

async function heldTo<T>(
  { client, largeTables }: ExplainContext,
  { mode, blocks: most, rows }: PlanLimits,
  read: (plans: PlanNode[]) => Promise<T>,
): Promise<T> {
  const plans: PlanNode[] = [];
  await client.query(`BEGIN; SET LOCAL plan_cache_mode = ${mode}`);
  try {
    const result = await read(plans);
    const reads = plans.flatMap(withChildren).filter((node) => largeTables.has(`${node["Relation Name"]}`));
    expect(reads).not.toEqual([]);
    expect(reads.filter((node) => node["Node Type"] === "Seq Scan")).toEqual([]);
    const tuples = reads.filter((node) => node["Node Type"] !== "Index Only Scan");
    expect(Math.max(0, ...tuples.map(rowsRead))).toBeLessThanOrEqual(rows);
    const blocks = plans.reduce((sum, plan) => sum + plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], 0);
    expect(blocks).toBeLessThanOrEqual(most);
    return result;
  } finally {
    await client.query("ROLLBACK");
  }
}

type Rows = Record<string, unknown>[];

/** Returns a transaction that records the plan of each statement that returns rows. */
function explaining(
  { client, tenantId }: ExplainContext,
  { mode }: PlanLimits,
  plans: PlanNode[],
  rowsOfExecution: (execution: string) => Promise<Rows>,
): Transaction {
  return {
    tenantId,
    send: (statement) => {
      const { sql, bindings } = statement.toSQL().toNative();
      void client.query(sql, bindings as unknown[]);
    },
    require: () => {
      throw new Error("a read adds nothing");
    },
    rows: async <Row extends object>(statement: Statement) => {
      const execution = await prepare(client, mode, statement);
      const explained = await client.query(`EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${execution}`);
      plans.push(explained.rows[0]["QUERY PLAN"][0].Plan);
      return (await rowsOfExecution(execution)) as Row[];
    },
  };
}

async function rowsOf({ client }: ExplainContext, execution: string): Promise<Rows> {
  return (await client.query(execution)).rows;
}

const preparedOf = new WeakMap<Client, Map<string, string>>();

/**
 * Prepares a statement once per forced mode, in which the number of executions does not matter. Prepares it each time
 * in mode `auto`.
 */
async function prepare(client: Client, mode: string, statement: Statement): Promise<string> {
  const { sql, bindings } = statement.toSQL().toNative();
  const known = preparedOf.get(client) ?? new Map<string, string>();
  preparedOf.set(client, known);
  const key = `${mode} ${mode === "auto" ? randomUUID() : sql}`;
  const name = known.get(key) ?? `read_${randomUUID().slice(0, 8)}`;
  if (!known.has(key)) await client.query(`PREPARE ${name} AS ${sql}`);
  known.set(key, name);
  return `EXECUTE ${name} (${(bindings as unknown[] as Binding[]).map(literal).join(", ")})`;
}

type Binding = string | number | boolean | Date | null | readonly (string | number | Date)[];

function literal(value: Binding): string {
  if (value === null) return "NULL";
  const text = (each: string | number | boolean | Date) => (each instanceof Date ? each.toISOString() : String(each));
  if (typeof value !== "object" || value instanceof Date) return escapeLiteral(text(value));
  return escapeLiteral(`{${value.map(text).join(",")}}`);
}

function withChildren(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(withChildren)];
}

function rowsRead(node: PlanNode): number {
  return (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"];
}
