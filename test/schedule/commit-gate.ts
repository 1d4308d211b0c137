import { Client } from "pg";
import { execute, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";

/** Holds the calls of some RPCs back just before they commit, with everything they do done and locked. */
export interface CommitGate {
  /** Closes the gate before an RPC, by its short name. Opens with the function that is given. */
  close(rpc: string): Promise<() => Promise<void>>;
  /** Resolves when so many sessions wait: for the gate, or for one that does. */
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
 * Builds a gate into a database: the audit row is what a call writes last, so a lock that it needs for that stops it where
 * nothing is left but to commit, for as long as it takes. Bytes that are held on their way would not do: all of it travels
 * together.
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
