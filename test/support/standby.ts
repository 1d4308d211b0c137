import { execFile } from "node:child_process";
import { appendFile, chown, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/embedded-postgres/start-embedded-postgres.js";
import { execute, withDatabase } from "./database.js";
import { removeFolder, temporaryFolder } from "./temporary-folder.js";

/** A PostgreSQL server and its streaming replica, each in its own folder. */
export interface ReplicatedPostgres {
  /** The primary, as the service's role. */
  readonly primaryUrl: string;
  /** The primary, as the owner of the tables. */
  readonly ownerUrl: string;
  readonly replicaUrl: string;
  /** The replica, as a role that bypasses row-level security. */
  readonly superuserReplicaUrl: string;
  /** Pauses the replay of the log on the replica, see pg_wal_replay_pause. */
  pauseReplay(): Promise<void>;
  resumeReplay(): Promise<void>;
  stopReplica(): Promise<void>;
  /** Promotes the replica to a primary that follows no other server. */
  promoteReplica(): Promise<void>;
  close(): Promise<void>;
}

/** Test data need not survive a crash, so fsync is off. Replication needs the default `wal_level`. */
const SETTINGS = { fsync: "off", full_page_writes: "off" };

/**
 * Starts both servers. The replica starts from a copy of the running primary (PostgreSQL manual: Making a Base Backup
 * Using the Low Level API).
 */
export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const [primaryFolder, replicaFolder] = [await temporaryFolder(), await temporaryFolder()];
  const primary = await startEmbeddedPostgres({ dataDir: primaryFolder, settings: SETTINGS });
  await copyRunning(primary, join(primaryFolder, "postgres"), join(replicaFolder, "postgres"));
  const replica = await startEmbeddedPostgres({ dataDir: replicaFolder, settings: SETTINGS });
  const tellReplica = (statement: string) => execute(replica.superuserUrl, statement);
  return {
    primaryUrl: primary.url,
    ownerUrl: primary.ownerUrl,
    replicaUrl: replica.url,
    superuserReplicaUrl: withDatabase(replica.superuserUrl, "cupo"),
    pauseReplay: async () => void (await tellReplica("SELECT pg_wal_replay_pause()")),
    resumeReplay: async () => void (await tellReplica("SELECT pg_wal_replay_resume()")),
    promoteReplica: async () => void (await tellReplica("SELECT pg_promote()")),
    stopReplica: () => replica.stop(),
    async close() {
      await Promise.all([replica.stop(), primary.stop()]);
      await Promise.all([removeFolder(replicaFolder), removeFolder(primaryFolder)]);
    },
  };
}

async function copyRunning({ superuserUrl }: EmbeddedPostgres, from: string, to: string): Promise<void> {
  const client = new Client({ connectionString: superuserUrl });
  await client.connect();
  await client.query("SELECT pg_backup_start('replica', true)");
  await promisify(execFile)("cp", ["-a", from, to]);
  const { rows } = await client.query<{ labelfile: string }>("SELECT labelfile FROM pg_backup_stop(false)");
  await client.end();
  const { uid, gid } = await stat(join(to, "cluster"));
  for (const [name, text] of [
    ["backup_label", rows[0]?.labelfile ?? ""],
    ["standby.signal", ""],
  ] as const) {
    await writeFile(join(to, "cluster", name), text);
    await chown(join(to, "cluster", name), uid, gid);
  }
  await Promise.all([rm(join(to, "shares"), { recursive: true }), rm(join(to, "cluster/postmaster.pid"))]);
  const { hostname, port, username, password } = new URL(superuserUrl);
  const primary = `host=${hostname} port=${port} user=${username} password=${password}`;
  await appendFile(join(to, "cluster/postgresql.auto.conf"), `primary_conninfo = '${primary}'\n`);
}
