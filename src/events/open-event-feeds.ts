import type { Database } from "../postgres/database.js";
import { createAnnouncer } from "../postgres/signals/announce-changes.js";
import { listenForChanges } from "../postgres/signals/listen-for-changes.js";
import { findChangedFeeds } from "../postgres/tables/events/event-overview.js";
import { createEventHub, type EventHub, type Listening } from "./event-hub.js";
import { createFeedReader } from "./feed-reader.js";

/** The dependencies of the feeds of a process. */
export interface EventFeedsOptions {
  readonly database: Database;
  /** The postgres:// URL of the database. */
  readonly databaseUrl: string;
  /** Called with an error that delays events, such as the error of a failed read or of a lost LISTEN connection. */
  readonly onError: (error: unknown) => void;
}

/** The open event feeds of a process. */
export interface EventFeeds {
  readonly hub: EventHub;
  /**
   * The longest time between two responses on an open event stream (a watch), in milliseconds. If the stream
   * has sent no event for this long, it sends a response without events.
   */
  readonly heartbeatMs: number;
  /** Notifies all watches of a tenant, in this and other processes, that a transaction has committed. */
  committed(tenantId: string): void;
  close(): Promise<void>;
}

const HEARTBEAT_MS = 15_000;

/**
 * Opens the feeds of a process. A dedicated connection runs LISTEN while there are watches (open event streams).
 *
 * This connection is not opened if named prepared statements are off. They are usually off because a pooler in
 * transaction mode is in front of the database, and such a pooler does not support LISTEN.
 */
export function openEventFeeds({ database, databaseUrl: url, onError }: EventFeedsOptions): EventFeeds {
  const { pool } = database;
  const announcer = createAnnouncer(pool);
  const hub = createEventHub({
    reader: createFeedReader(database),
    findChanged: (known) => findChangedFeeds(database, known),
    listen: (onChanged) =>
      database.namedStatements ? listenForChanges({ url, pool, onChanged, onError }) : noListener,
    onError,
  });
  return {
    hub,
    heartbeatMs: HEARTBEAT_MS,
    committed(tenantId) {
      announcer.announce(tenantId);
      hub.wake(tenantId);
    },
    async close() {
      await Promise.all([hub.close(), announcer.close()]);
    },
  };
}

const noListener: Listening = { isReceiving: () => false, close: async () => undefined };
