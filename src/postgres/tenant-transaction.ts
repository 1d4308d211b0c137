import type { Transaction } from "../call.js";
import type { Database } from "./database.js";
import { PipelinedTransaction, type TransactionLimits } from "./pipelined-transaction.js";

/** Does work that no call asked for in one transaction of a tenant. Rejects, with nothing done, where any of it fails. */
export async function runAsTenant<T>(
  database: Pick<Database, "acquire" | "namedStatements">,
  tenantId: string,
  limits: TransactionLimits,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const client = await database.acquire();
  const transaction = new PipelinedTransaction(client, tenantId, limits, database.namedStatements);
  try {
    const result = await work(transaction);
    await transaction.commit();
    client.release();
    return result;
  } catch (error) {
    await transaction.rollback().then(
      () => client.release(),
      () => client.release(true),
    );
    throw transaction.failure ?? error;
  }
}
