import { createClient, type Transport } from "@connectrpc/connect";
import { onTestFinished } from "vitest";
import { Health, type ServingStatus } from "../../src/index.js";

/** A watch of a service's health, until the test ends. */
export interface StatusWatch {
  /** Resolves with the next status, or with undefined after the end. */
  next(): Promise<ServingStatus | undefined>;
  leave(): void;
}

export function watchStatus(transport: Transport, service: string): StatusWatch {
  const leaving = new AbortController();
  const stream = createClient(Health, transport).watch({ service }, { signal: leaving.signal })[Symbol.asyncIterator]();
  onTestFinished(() => leaving.abort());
  return { next: async () => (await stream.next()).value?.status, leave: () => leaving.abort() };
}
