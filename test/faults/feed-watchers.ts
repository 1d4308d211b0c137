import { randomInt } from "node:crypto";
import { ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Event, Event_Start } from "../../src/gen/cupo/clinic/v1/event_pb.js";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { eventually } from "../support/eventually.js";
import type { TestService } from "../support/service.js";

/** A client that watches all events at a random one of two processes, and reconnects whenever a watch ends. */
export interface PersistentWatcher {
  /** The received events, in their order. */
  readonly events: readonly Event[];
  /** Number of watches that have ended. */
  readonly broken: () => number;
  stop(): Promise<void>;
}

/**
 * Starts a watcher with the oldest event. After a break it reconnects. If it `remembers`, it continues from the cursor
 * of the last processed response; otherwise from now, like a client that ignores cursors. `again` is awaited before
 * each reconnect.
 */
export async function watchPersistently(
  both: readonly [TestService, TestService],
  { remembers, again = async () => undefined }: { readonly remembers: boolean; readonly again?: () => Promise<void> },
): Promise<PersistentWatcher> {
  const events: Event[] = [];
  const ending = new AbortController();
  let cursor: string | undefined;
  let hasBegun = false;
  let broken = 0;
  const watchOnce = async (service: TestService) => {
    const client = createClient(EventService, createGrpcTransport({ baseUrl: service.internalUrl }));
    const headers = { authorization: `Bearer ${await service.token()}` };
    const from =
      cursor !== undefined && remembers ? { cursor } : { start: hasBegun ? Event_Start.NOW : Event_Start.OLDEST };
    for await (const response of client.watchEvents(from, { headers, signal: ending.signal })) {
      events.push(...response.events);
      cursor = response.cursor;
      hasBegun = true;
    }
  };
  const watch = async () => {
    while (!ending.signal.aborted) {
      await watchOnce(both[randomInt(2) as 0 | 1]).catch((error: unknown) => ConnectError.from(error));
      broken += 1;
      if (!ending.signal.aborted) await again();
    }
  };
  const done = watch();
  await eventually(() => hasBegun);
  return {
    events,
    broken: () => broken,
    async stop() {
      ending.abort();
      await done;
    },
  };
}
