import { vi } from "vitest";

/**
 * Time limit and polling interval in milliseconds. An idle machine needs only a moment; the limit is for a busy one.
 */
export const patience = { timeout: 60_000, interval: 20 } as const;

/** Resolves when the condition is true. Rejects after the time limit of `patience`. */
export async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitUntil(isSo, patience);
}
