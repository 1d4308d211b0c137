import type { QuotaStore } from "./quota-store.js";

/** Grants the whole of each quota for its next window: right for one process. Several processes each have the whole quota. */
export const localQuotaStore: QuotaStore = {
  take: async (_, demands) =>
    demands.map(({ policy: { quota, windowSeconds } }) => ({
      granted: quota,
      left: 0,
      endsInMs: windowSeconds * 1_000,
    })),
};
