import type { QuotaStore } from "./quota-store.js";

/**
 * A store for one process. Each call of `take` grants the full quota of each demand, for a window that begins with the
 * call. Do not use it for several processes, because each of them would get the full quota.
 */
export const localQuotaStore: QuotaStore = {
  take: async (_, demands) =>
    demands.map(({ policy: { quota, windowSeconds } }) => ({
      granted: quota,
      left: 0,
      endsInMs: windowSeconds * 1_000,
    })),
};
