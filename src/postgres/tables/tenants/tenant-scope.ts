import type { Transaction } from "../../../call.js";
import { isLowerCaseUuid } from "../../../uuid.js";
import { sql } from "../../sql.js";

/**
 * Runs work within another tenant, in the transaction of a call. Returns the result of the work. During the work,
 * row-level security shows only the rows of the other tenant. Afterwards the transaction is within its own tenant
 * again. If the work rejects, the transaction stays within the other tenant, so the caller must roll it back. Only
 * operations of operators may use this function. `tenantId` is a UUID in lower case.
 */
export async function withinTenant<T>(
  transaction: Transaction,
  tenantId: string,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  enter(transaction, tenantId);
  const result = await work({
    tenantId,
    rows: (statement) => transaction.rows(statement),
    send: (statement) => transaction.send(statement),
    require: (statement, refusal) => transaction.require(statement, refusal),
  });
  enter(transaction, transaction.tenantId);
  return result;
}

/**
 * Sets the tenant of the transaction. SET takes no parameters, so the text of the statement contains the checked id.
 * set_config() would take parameters, but Citus forwards only SET LOCAL to its workers.
 */
function enter(transaction: Transaction, tenantId: string): void {
  if (!isLowerCaseUuid(tenantId)) throw new Error("the tenant of a transaction must be a lower-case UUID");
  transaction.send(sql.raw(`SET LOCAL cupo.tenant_id = '${tenantId}'`));
}
