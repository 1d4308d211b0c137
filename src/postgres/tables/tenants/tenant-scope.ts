import type { Transaction } from "../../../call.js";
import { isLowerCaseUuid } from "../../../uuid.js";
import { sql } from "../../sql.js";

/**
 * Runs `work` for the tenant `tenantId`, although the transaction belongs to a call of another tenant. Returns the
 * result of `work`. `tenantId` is a UUID in lower case. Only RPCs for operators may use this function.
 *
 * During `work`, row-level security shows only the rows of the tenant `tenantId`. After `work`, it shows the rows of
 * the transaction's own tenant again. If `work` rejects, it still shows those of the tenant `tenantId`: the caller must
 * then roll back the transaction.
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
