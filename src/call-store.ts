import { setTimeout as delay } from "node:timers/promises";
import { readyCall } from "./call.js";
import type { ChainPorts } from "./interceptors/chain.js";
import type { Database } from "./postgres/database.js";
import { insertAccessRecords } from "./postgres/tables/patients/patient-evidence.js";
import { UnitOfWork } from "./postgres/unit-of-work.js";

const TRANSACTION_LIMITS = {
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 1_000,
  workLockTimeoutMs: 5_000,
  idleTimeoutMs: 15_000,
};

/** What calls are done in, on a database. `onCommitted` is told of a tenant of which something has changed. */
export function createCallStore(
  database: Database,
  onCommitted: (tenantId: string) => void,
): Pick<ChainPorts, "store" | "recordAccess"> {
  return {
    store: new UnitOfWork(database, { ...TRANSACTION_LIMITS, backOff, onCommitted }),
    recordAccess: (call, patientIds) => insertAccessRecords(readyCall(call), patientIds),
  };
}

/** Full jitter: anything up to 20 ms before the first retry, doubling with each. */
function backOff(attempt: number): Promise<void> {
  return delay(Math.random() * 10 * 2 ** attempt);
}
