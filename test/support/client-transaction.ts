import type { Client } from "pg";
import type { Transaction } from "../../src/call.js";

/**
 * Returns a transaction that runs each query at once on a connected client, without a transaction of the database. It
 * ignores statements without a result. The session must have `cupo.tenant_id`.
 */
export function transactionOn(client: () => Client, tenantId: string): Transaction {
  return {
    tenantId,
    send: () => undefined,
    require: () => undefined,
    async rows(statement) {
      const { sql, bindings } = statement.toSQL().toNative();
      return (await client().query(sql, bindings as unknown[])).rows;
    },
  };
}
