import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { unprivilegedAccount } from "../../src/embedded-postgres/account.js";
import { freePort } from "./free-port.js";

const VERSIONS = "/usr/lib/postgresql";
const OLDEST = 15;

/** Folder with the programs of the newest PostgreSQL of Debian's packages; undefined if none is installed. */
export const postgresPrograms: string | undefined = (existsSync(VERSIONS) ? readdirSync(VERSIONS) : [])
  .filter((version) => Number(version) >= OLDEST)
  .toSorted((one, other) => Number(other) - Number(one))
  .map((version) => join(VERSIONS, version, "bin"))
  .find((folder) => ["initdb", "pg_ctl", "pg_dump"].every((program) => existsSync(join(folder, program))));

/** A cluster of Debian's PostgreSQL. It has programs that the embedded server lacks. */
export interface OwnPostgres {
  /** Maintenance database, as the superuser. */
  readonly superuserUrl: string;
  /** Returns a URL of the server for a role and a database. */
  urlOf(role: string, password: string, database: string): string;
  stop(): Promise<void>;
}

/** Creates a cluster in a temporary folder and starts its server on a free port. */
export async function startOwnPostgres(programs: string): Promise<OwnPostgres> {
  const folder = mkdtempSync(join(tmpdir(), "cupo-cluster-"));
  const password = randomBytes(12).toString("hex");
  const account = process.getuid?.() === 0 ? unprivilegedAccount(readFileSync("/etc/passwd", "utf8")) : undefined;
  const identity = account === undefined ? {} : { uid: account.uid, gid: account.gid };
  writeFileSync(join(folder, "password"), password);
  mkdirSync(join(folder, "data"));
  if (account !== undefined)
    for (const path of [folder, ...["data", "password"].map((name) => join(folder, name))])
      chownSync(path, account.uid, account.gid);
  const run = (program: string, ...args: readonly string[]) =>
    promisify(execFile)(join(programs, program), ["--pgdata", join(folder, "data"), ...args], {
      cwd: folder,
      ...identity,
    });
  const pwfile = `--pwfile=${join(folder, "password")}`;
  await run(
    "initdb",
    "--username=postgres",
    pwfile,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--no-sync",
  );
  const port = await freePort();
  const options = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories= -c fsync=off`;
  await run("pg_ctl", "start", "--wait", "--silent", "--log", join(folder, "log"), "--options", options);
  const urlOf = (role: string, secret: string, database: string) =>
    `postgres://${role}:${secret}@127.0.0.1:${port}/${database}`;
  return {
    superuserUrl: urlOf("postgres", password, "postgres"),
    urlOf,
    async stop() {
      await run("pg_ctl", "stop", "--wait", "--silent", "--mode", "fast");
      rmSync(folder, { recursive: true });
    },
  };
}
