import type { Database } from "../postgres/database.js";
import { createAnnouncer } from "../postgres/signals/announce-changes.js";
import { listenForChanges } from "../postgres/signals/listen-for-changes.js";
import { findChangedFeeds } from "../postgres/tables/events/event-overview.js";
import { createEventHub, type EventHub, type Listening } from "./event-hub.js";
import { createFeedReader } from "./feed-reader.js";

/** What the feeds of a process need. */
export interface EventFeedsOptions {
  readonly database: Database;
  /** The postgres:// URL of the database. */
  readonly databaseUrl: string;
  /** Told of what makes the feeds slow for a while. */
  readonly onError: (error: unknown) => void;
}

/** The feeds of a process. */
export interface EventFeeds {
  readonly hub: EventHub;
  /** How long a watch says nothing, at most, in milliseconds. */
  readonly heartbeatMs: number;
  /** Says that something of a tenant has committed: those who watch it here, and in other processes, get to know. */
  committed(tenantId: string): void;
  close(): Promise<void>;
}

const HEARTBEAT_MS = 15_000;

/**
 * Puts the feeds of a process together. A connection of its own listens while somebody watches, but not where statements
 * cannot be kept prepared: that is a connection pooler, which cannot carry LISTEN either.
 */
export function openEventFeeds({ database, databaseUrl: url, onError }: EventFeedsOptions): EventFeeds {
  const { pool } = database;
  const announcer = createAnnouncer(pool);
  const hub = createEventHub({
    reader: createFeedReader(database),
    findChanged: (known) => findChangedFeeds(database, known),
    listen: (onChanged) => (database.namedStatements ? listenForChanges({ url, pool, onChanged, onError }) : deaf),
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

const deaf: Listening = { isHeard: () => false, close: async () => undefined };
