import { randomBytes, randomUUID } from "node:crypto";
import { appendFile, chmod, chown, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "./account.js";
import type { Binaries } from "./binaries.js";
import { type EmbeddedFolders, embeddedFolders } from "./folders.js";
import { runProgram } from "./run-program.js";

/** What {@link createCluster} needs. */
export interface ClusterContext {
  readonly binaries: Binaries;
  /** Who owns the cluster and runs its server; undefined for the account of this process. */
  readonly account: Account | undefined;
  readonly folders: EmbeddedFolders;
  readonly settings: Readonly<Record<string, string>>;
}

/** The passwords of the two roles, by role; made of characters that need no escape in a URL or in SQL. */
export interface Passwords {
  readonly postgres: string;
  readonly cupo: string;
}

/**
 * Creates a cluster with the superuser `postgres` and the ordinary role `cupo`, owner of the database `cupo`. All of it
 * is made in a folder aside and renamed when it is complete, so that `folders.home` is either whole or not there. Text
 * sorts by code point with PostgreSQL's own C.UTF-8, independent of the machine's locales. Rejects with what initdb said.
 */
export async function createCluster(context: ClusterContext): Promise<void> {
  const { folders } = context;
  const aside = embeddedFolders(folders.root, `${folders.incompletePrefix}${randomUUID()}`);
  const passwords = { postgres: randomPassword(), cupo: randomPassword() };
  try {
    await mkdir(aside.home);
    await chmod(aside.home, context.account === undefined ? 0o700 : 0o711);
    await initialize({ ...context, folders: aside }, passwords.postgres);
    await createRole({ ...context, folders: aside }, passwords.cupo);
    await writeFile(aside.passwords, JSON.stringify(passwords), { mode: 0o600, flush: true });
    await rename(aside.home, folders.home);
  } catch (error) {
    await rm(aside.home, { recursive: true, force: true });
    throw error;
  }
}

/** Reads the passwords of a complete cluster. */
export async function readPasswords(path: string): Promise<Passwords> {
  const passwords: unknown = JSON.parse(await readFile(path, "utf8"));
  if (isPasswords(passwords)) return passwords;
  throw new Error(`${path} does not hold the passwords of the embedded PostgreSQL`);
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

/** In single-user mode the server takes one statement a line from its standard input, without a port or a password. */
async function createRole(context: ClusterContext, password: string): Promise<void> {
  const { binaries, account, folders } = context;
  const args = ["--single", "-c", "exit_on_error=on", "-D", folders.cluster, "postgres"];
  const input = [
    `CREATE ROLE cupo LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD '${password}'`,
    "CREATE DATABASE cupo OWNER cupo",
    "",
  ].join("\n");
  const { ok, output } = await runProgram(binaries.postgres, args, { account, cwd: folders.home, input });
  if (!ok) throw new Error(`PostgreSQL could not create its database:\n${output.replaceAll(password, "…").trim()}`);
}

function isPasswords(value: unknown): value is Passwords {
  if (typeof value !== "object" || value === null) return false;
  return "postgres" in value && typeof value.postgres === "string" && "cupo" in value && typeof value.cupo === "string";
}

function randomPassword(): string {
  return randomBytes(24).toString("base64url");
}
