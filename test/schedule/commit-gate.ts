import { Client } from "pg";
import { execute, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";

/** Stops the calls of an RPC just before COMMIT, after all their writes and locks. */
export interface CommitGate {
  /** Closes the gate for an RPC, given by its short name. Returns a function that opens it. */
  close(rpc: string): Promise<() => Promise<void>>;
  /** Resolves when this many sessions wait for a lock: the gate's, or one of a session at the gate. */
  waiting(sessions: number): Promise<void>;
  end(): Promise<void>;
}

const INSTALL = `
  CREATE FUNCTION test_commit_gate() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$ BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtext(split_part(NEW.operation, '/', 2)));
    RETURN NEW;
  END $$;
  CREATE TRIGGER test_commit_gate BEFORE INSERT ON audit_events FOR EACH ROW EXECUTE FUNCTION test_commit_gate()`;
const WAITING = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/**
 * Installs a gate in a database. The audit event is the last row that a call writes, so its trigger waits for an
 * advisory lock there. Delaying bytes on the connection would not work: the service sends its last statements and
 * COMMIT together.
 */
export async function buildCommitGate({ url, adminUrl }: TestDatabase): Promise<CommitGate> {
  await execute(adminUrl, INSTALL);
  const client = new Client(url);
  const watcher = new Client(adminUrl);
  await Promise.all([client.connect(), watcher.connect()]);
  const isWaiting = async (sessions: number) => (await watcher.query(WAITING)).rows.length === sessions;
  return {
    async close(rpc) {
      await client.query("SELECT pg_advisory_lock(hashtext($1))", [rpc]);
      return async () => void (await client.query("SELECT pg_advisory_unlock(hashtext($1))", [rpc]));
    },
    async waiting(sessions) {
      await eventually(() => isWaiting(sessions));
    },
    async end() {
      await Promise.all([client.end(), watcher.end()]);
    },
  };
}
