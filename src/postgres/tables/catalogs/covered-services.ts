import type { Transaction } from "../../../call.js";
import { readRecord } from "../../columns.js";
import { sql } from "../../sql.js";

/** The healthcare services that a contract covers. */
export interface CoveredServiceSet {
  /** Ids in ascending order; empty if the contract covers every service. */
  readonly serviceIds: readonly string[];
  /** The version of the contract. Each change of the contract or of its covered services increases the version. */
  readonly version: number;
}

/**
 * Returns the covered services and the version of a contract, as of one instant; undefined if the tenant has no such
 * contract.
 */
export async function readCoveredServices(
  transaction: Transaction,
  contractId: string,
): Promise<CoveredServiceSet | undefined> {
  const { tenantId } = transaction;
  const query = sql("contracts")
    .where({ tenant_id: tenantId, id: contractId })
    .select({
      version: "version",
      serviceIds: sql.raw(
        `ARRAY(SELECT service_id FROM contract_services
          WHERE contract_services.tenant_id = ? AND contract_id = contracts.id ORDER BY service_id)`,
        [tenantId],
      ),
    });
  return readRecord(transaction, query);
}

/**
 * Replaces the covered services of a contract. The caller must lock the contract first. The caller must also write the
 * new version of the contract.
 */
export function writeCoveredServices(
  transaction: Transaction,
  contractId: string,
  serviceIds: readonly string[],
): void {
  const { tenantId } = transaction;
  transaction.send(sql("contract_services").where({ tenant_id: tenantId, contract_id: contractId }).delete());
  transaction.send(
    sql.raw(
      `INSERT INTO contract_services (tenant_id, contract_id, service_id)
       SELECT c.tenant_id, c.id, added.service_id FROM contracts c CROSS JOIN unnest(?::uuid[]) AS added (service_id)
       WHERE c.tenant_id = ? AND c.id = ?`,
      [serviceIds as string[], tenantId, contractId],
    ),
  );
}
