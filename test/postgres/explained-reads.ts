import { randomUUID } from "node:crypto";
import { type Client, escapeLiteral } from "pg";
import { expect } from "vitest";
import type { Statement, Transaction } from "../../src/call.js";

/** Where plans are looked at. */
export interface PlanGround {
  readonly client: Client;
  readonly tenantId: string;
  /** Those of which nobody may read all. */
  readonly largeTables: ReadonlySet<string>;
}

/** What a plan may cost at most. */
export interface PlanLimits {
  readonly mode: string;
  /** Blocks of all its statements together. */
  readonly blocks: number;
  /** Rows of any one of its nodes. */
  readonly rows: number;
}

/** A node of a plan, as EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) gives it. */
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
 * Runs what reads as a transaction of the tenant, planned by this mode (plan_cache_mode). Gives what was read, and holds it to so
 * many blocks, and to indexes where a table is large.
 */
export function expectFewBlocks<T>(
  ground: PlanGround,
  limits: PlanLimits,
  read: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return heldTo(ground, limits, async (plans) =>
    read(explaining(ground, limits, plans, (name) => rowsOf(ground, name))),
  );
}

/** Holds a read of one statement to the same as {@link expectFewBlocks}, for who does not ask what it gives: it is run once, not twice. */
export async function expectFewBlocksOfOne(
  ground: PlanGround,
  limits: PlanLimits,
  read: (transaction: Transaction) => Promise<unknown>,
): Promise<void> {
  await heldTo(ground, limits, async (plans) => {
    await read(explaining(ground, limits, plans, async () => []));
    expect(plans).toHaveLength(1);
  });
}

async function heldTo<T>(
  { client, largeTables }: PlanGround,
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

/** A transaction that keeps the plan of each statement that gives rows, as it was run. */
function explaining(
  { client, tenantId }: PlanGround,
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

async function rowsOf({ client }: PlanGround, execution: string): Promise<Rows> {
  return (await client.query(execution)).rows;
}

const preparedOf = new WeakMap<Client, Map<string, string>>();

/** Prepares a statement once for a mode that is forced, in which it makes no difference how often it was executed; else each time. */
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

type Binding = string | number | boolean | Date | null | readonly (string | number)[];

function literal(value: Binding): string {
  if (value === null) return "NULL";
  if (typeof value === "object" && !(value instanceof Date)) return escapeLiteral(`{${value.join(",")}}`);
  return escapeLiteral(value instanceof Date ? value.toISOString() : String(value));
}

function withChildren(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(withChildren)];
}

function rowsRead(node: PlanNode): number {
  return (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"];
}
