import type { TransactionLimits } from "../postgres/transaction-start.js";

/** Time limits of each transaction for deliveries to webhooks. They are short, because the statements are small. */
export const DELIVERY_LIMITS: TransactionLimits = {
  statementTimeoutMs: 5_000,
  lockTimeoutMs: 2_000,
  idleTimeoutMs: 5_000,
};
