import type { QuotaStore } from "../../src/quotas/quota-store.js";

/** A quota store in memory, on the test's clock, that counts its calls. */
export interface MemoryStore extends QuotaStore {
  readonly asked: () => number;
}

export function createMemoryStore(elapsed: () => number): MemoryStore {
  const windows = new Map<string, { taken: number; endsAt: number }>();
  let asked = 0;
  return {
    asked: () => asked,
    async take({ tenantId, id }, demands) {
      asked += 1;
      return demands.map(({ policy: { name, quota, windowSeconds }, wanted }) => {
        const key = `${tenantId} ${id} ${name}`;
        const known = windows.get(key);
        const isOver = known === undefined || known.endsAt <= elapsed();
        const window = isOver ? { taken: 0, endsAt: elapsed() + windowSeconds * 1_000 } : known;
        const granted = Math.min(wanted, quota - window.taken);
        window.taken += granted;
        windows.set(key, window);
        return { granted, left: quota - window.taken, endsInMs: window.endsAt - elapsed() };
      });
    },
  };
}
