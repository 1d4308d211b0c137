import type { QuotaStore } from "./quota-store.js";

/**
 * A store for one process. Each call of `take` grants the whole of each quota, for a window that begins now. Several
 * processes would each get the whole quota.
 */
export const localQuotaStore: QuotaStore = {
  take: async (_, demands) =>
    demands.map(({ policy: { quota, windowSeconds } }) => ({
      granted: quota,
      left: 0,
      endsInMs: windowSeconds * 1_000,
    })),
};
