import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execute } from "./database.js";
import { eventually } from "./eventually.js";
import { freePort } from "./free-port.js";

const PROGRAM = "/usr/sbin/pgbouncer";
/** User id of PgBouncer if the tests run as root, because PgBouncer refuses to run as root. */
const UNPRIVILEGED = 65_534;

/** Whether Debian's package is installed. */
export const isPgbouncerThere = ((): boolean => {
  try {
    execFileSync(PROGRAM, ["--version"]);
    return true;
  } catch {
    return false;
  }
})();

/** A PgBouncer in transaction mode in front of one database. */
export interface Pgbouncer {
  urlOf(databaseUrl: string): string;
  stop(): Promise<void>;
}

/** Starts PgBouncer on a free port, for the roles of these URLs of one server. */
export async function startPgbouncer(urls: readonly string[]): Promise<Pgbouncer> {
  const folder = mkdtempSync(join(tmpdir(), "cupo-pgbouncer-"));
  const server = new URL(urls[0] ?? "");
  const port = await freePort();
  const users = urls
    .map((url) => new URL(url))
    .map(({ username, password }) => [username, password].map(quoted).join(" "));
  writeFileSync(join(folder, "users"), `${users.join("\n")}\n`);
  writeFileSync(
    join(folder, "pgbouncer.ini"),
    `[databases]
* = host=${server.hostname} port=${server.port || 5432}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${join(folder, "users")}
pool_mode = transaction
default_pool_size = 20
max_client_conn = 500
ignore_startup_parameters = extra_float_digits
`,
  );
  chmodSync(folder, 0o755);
  const identity = process.getuid?.() === 0 ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
  const child = spawn(PROGRAM, ["-q", join(folder, "pgbouncer.ini")], { ...identity, stdio: "ignore" });
  const ended = once(child, "exit");
  const urlOf = (databaseUrl: string) => {
    const url = new URL(databaseUrl);
    url.hostname = "127.0.0.1";
    url.port = String(port);
    return url.href;
  };
  const answers = () =>
    execute(urlOf(urls[0] ?? ""), "SELECT 1").then(
      () => true,
      () => false,
    );
  await eventually(answers);
  return {
    urlOf,
    async stop() {
      child.kill("SIGINT");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function quoted(text: string): string {
  return `"${decodeURIComponent(text).replaceAll('"', '""')}"`;
}
