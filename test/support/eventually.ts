import { vi } from "vitest";

/** How long something may take that is done in a moment by a machine that has nothing else to do. */
export const patience = { timeout: 60_000, interval: 20 } as const;

/** Resolves when something is so; rejects when patience ends. */
export async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitUntil(isSo, patience);
}
