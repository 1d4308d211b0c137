import { randomBytes, randomUUID } from "node:crypto";
import { appendFile, chmod, chown, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "./account.js";
import type { Binaries } from "./binaries.js";
import { type EmbeddedFolders, embeddedFolders } from "./folders.js";
import { runProgram } from "./run-program.js";

/** Dependencies of {@link createCluster}. */
export interface ClusterContext {
  readonly binaries: Binaries;
  /** The account that owns the cluster and runs its server; undefined for the account of this process. */
  readonly account: Account | undefined;
  readonly folders: EmbeddedFolders;
  readonly settings: Readonly<Record<string, string>>;
}

/** The passwords by role. Their characters need no escape in a URL or in SQL. */
export interface Passwords {
  readonly postgres: string;
  readonly cupo: string;
  /** Undefined in a cluster that an older release created, until {@link addOwner} adds the role. */
  readonly cupo_owner: string | undefined;
}

const ORDINARY = "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS";

/**
 * Creates a cluster with the database `cupo` and three roles: `postgres` is the superuser, `cupo_owner` owns the
 * database, and the service uses `cupo`. In the database, text sorts by code point on every machine.
 *
 * Creates the cluster in a temporary folder and then renames the folder to `folders.home`. So `folders.home` is
 * complete or absent. If a program fails, rejects with an Error that contains its output.
 */
export async function createCluster(context: ClusterContext): Promise<void> {
  const { folders } = context;
  const aside = embeddedFolders(folders.root, `${folders.incompletePrefix}${randomUUID()}`);
  const passwords = { postgres: randomPassword(), cupo: randomPassword(), cupo_owner: randomPassword() };
  try {
    await mkdir(aside.home);
    await chmod(aside.home, context.account === undefined ? 0o700 : 0o711);
    await initialize({ ...context, folders: aside }, passwords.postgres);
    await createRoles({ ...context, folders: aside }, passwords);
    await writePasswords(aside, passwords);
    await rename(aside.home, folders.home);
  } catch (error) {
    await rm(aside.home, { recursive: true, force: true });
    throw error;
  }
}

/** Returns the passwords of a cluster. Rejects if the file with the passwords is missing or not valid. */
export async function readPasswords({ passwords: path }: EmbeddedFolders): Promise<Passwords> {
  const passwords: unknown = JSON.parse(await readFile(path, "utf8"));
  if (isPasswords(passwords)) return passwords;
  throw new Error(`${path} does not contain the passwords of the embedded PostgreSQL; restore the file`);
}

/**
 * Adds the role `cupo_owner` to a cluster of an older release. Transfers to this role everything that the role `cupo`
 * owns. Returns the passwords of all roles. The server must not be running. After an interruption, the next call
 * repeats all steps.
 */
export async function addOwner(context: ClusterContext, passwords: Passwords): Promise<Passwords> {
  const { folders } = context;
  const owner = randomPassword();
  await rm(join(folders.cluster, "postmaster.pid"), { force: true });
  await runStatements(context, "cupo", [
    "DO $$ BEGIN IF to_regrole('cupo_owner') IS NULL THEN CREATE ROLE cupo_owner; END IF; END $$",
    `ALTER ROLE cupo_owner ${ORDINARY} PASSWORD '${owner}'`,
    "REASSIGN OWNED BY cupo TO cupo_owner",
  ]);
  await writePasswords(folders, { ...passwords, cupo_owner: owner });
  return { ...passwords, cupo_owner: owner };
}

/** Writes the passwords file completely or not at all. */
async function writePasswords(folders: EmbeddedFolders, passwords: Passwords): Promise<void> {
  const aside = `${folders.passwords}.incomplete`;
  await writeFile(aside, JSON.stringify(passwords), { mode: 0o600, flush: true });
  await rename(aside, folders.passwords);
}

async function initialize(context: ClusterContext, password: string): Promise<void> {
  const { binaries, account, folders, settings } = context;
  const passwordFile = join(folders.home, "password");
  await mkdir(folders.cluster, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (account !== undefined) {
    await chown(folders.cluster, account.uid, account.gid);
    await chown(passwordFile, account.uid, account.gid);
  }
  const args = [
    `--pgdata=${folders.cluster}`,
    "--username=postgres",
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
    ...(settings["fsync"] === "off" ? ["--no-sync"] : []),
  ];
  const { ok, output } = await runProgram(binaries.initdb, args, { account, cwd: folders.home });
  if (!ok) throw new Error(`initdb could not create a PostgreSQL cluster in ${folders.root}:\n${output.trim()}`);
  await rm(passwordFile);
  await appendFile(join(folders.cluster, "postgresql.conf"), "\ninclude '../settings.conf'\n", { flush: true });
  await writeFile(folders.settings, "");
}

function createRoles(context: ClusterContext, { cupo, cupo_owner }: Passwords): Promise<void> {
  return runStatements(context, "postgres", [
    `CREATE ROLE cupo_owner ${ORDINARY} PASSWORD '${cupo_owner}'`,
    `CREATE ROLE cupo ${ORDINARY} PASSWORD '${cupo}'`,
    "CREATE DATABASE cupo OWNER cupo_owner",
  ]);
}

/**
 * Runs SQL in single-user mode: the server reads one statement per line from standard input, without a port or a
 * password.
 */
async function runStatements(context: ClusterContext, database: string, statements: readonly string[]): Promise<void> {
  const { binaries, account, folders } = context;
  const args = ["--single", "-c", "exit_on_error=on", "-D", folders.cluster, database];
  const input = `${statements.join("\n")}\n`;
  const { ok, output } = await runProgram(binaries.postgres, args, { account, cwd: folders.home, input });
  if (ok) return;
  throw new Error(
    `PostgreSQL could not set up its roles:\n${output.replaceAll(/PASSWORD '.*?'/g, "PASSWORD …").trim()}`,
  );
}

function isPasswords(value: unknown): value is Passwords {
  if (typeof value !== "object" || value === null) return false;
  return "postgres" in value && typeof value.postgres === "string" && "cupo" in value && typeof value.cupo === "string";
}

function randomPassword(): string {
  return randomBytes(24).toString("base64url");
}
