import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execute } from "../support/database.js";

/** A disk that contains one table. */
export interface SmallDisk {
  /** Fills the disk completely. */
  fill(): Promise<void>;
  free(): Promise<void>;
  close(): Promise<void>;
}

const MEGABYTE = 1_024 ** 2;
const SIZE = 4 * MEGABYTE;

/**
 * Moves an empty table to a disk of 4 MiB. Requires a superuser of a server on this machine. Close it after the server.
 * - If this process may mount one (as root), the disk is a file system in memory.
 * - Otherwise a trigger raises PostgreSQL's error for a full disk (53100) on each insert.
 */
export async function openSmallDisk(adminUrl: string, table: string): Promise<SmallDisk> {
  const mountPoint = mkdtempSync(join(tmpdir(), "cupo-disk-"));
  const [{ data_directory: serverFolder } = {}] = await execute(adminUrl, "SHOW data_directory");
  const { uid, gid } = statSync(String(serverFolder));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE}`, "tmpfs", mountPoint]);
  if (mounted.status !== 0) {
    rmdirSync(mountPoint);
    return openNarrowTable(adminUrl, table);
  }
  chownSync(mountPoint, uid, gid);
  chmodSync(mountPoint, 0o700);
  await execute(
    adminUrl,
    `CREATE TABLESPACE small_disk LOCATION '${mountPoint}'`,
    `ALTER TABLE ${table} SET TABLESPACE small_disk`,
  );
  const ballast = join(mountPoint, "ballast");
  return {
    fill: async () => writeUntilFull(ballast),
    free: async () => rmSync(ballast),
    async close() {
      spawnSync("umount", ["--lazy", mountPoint]);
      rmdirSync(mountPoint);
    },
  };
}

function writeUntilFull(path: string): void {
  try {
    writeFileSync(path, Buffer.alloc(2 * SIZE));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  }
}

async function openNarrowTable(adminUrl: string, table: string): Promise<SmallDisk> {
  await execute(
    adminUrl,
    `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`,
  );
  return {
    async fill() {
      await execute(adminUrl, `CREATE TRIGGER no_room BEFORE INSERT ON ${table} EXECUTE FUNCTION no_room()`);
    },
    async free() {
      await execute(adminUrl, `DROP TRIGGER no_room ON ${table}`);
    },
    close: async () => undefined,
  };
}
