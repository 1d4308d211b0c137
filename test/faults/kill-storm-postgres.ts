import { readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { identifyProcess } from "../../src/embedded-postgres/processes.js";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/embedded-postgres/start-embedded-postgres.js";
import { withDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { pidFile, removeFolder, temporaryFolder } from "../support/temporary-folder.js";

/** A PostgreSQL server whose addresses stay the same when it is killed and restarted. */
export interface KillablePostgres {
  readonly url: string;
  readonly ownerUrl: string;
  readonly adminUrl: string;
  /** Kills the server with SIGKILL. Resolves when it is dead and its connections are closed. */
  kill(): Promise<void>;
  /** Starts the killed server again, with additional settings. Resolves when it has recovered. */
  restart(settings?: Readonly<Record<string, string>>): Promise<void>;
  close(): Promise<void>;
}

/** Killing a process loses no data even without fsync. Deadlocks must be detected before a call gives up waiting. */
const SETTINGS = { fsync: "off", full_page_writes: "off", deadlock_timeout: "50ms" };

/** Starts the embedded server in its own folder, behind a port that always forwards to it. */
export async function startKillablePostgres(): Promise<KillablePostgres> {
  const folder = await temporaryFolder();
  const start = (settings: object = {}) =>
    startEmbeddedPostgres({ dataDir: folder, settings: { ...SETTINGS, ...settings } });
  let server: EmbeddedPostgres = await start();
  const door = await openDoor(() => Number(new URL(server.url).port));
  return {
    url: door.urlOf(server.url),
    ownerUrl: door.urlOf(server.ownerUrl),
    adminUrl: door.urlOf(withDatabase(server.superuserUrl, "cupo")),
    async kill() {
      const pid = Number.parseInt(readFileSync(pidFile(folder), "utf8"), 10);
      process.kill(pid, "SIGKILL");
      await eventually(() => identifyProcess(pid) === undefined);
    },
    async restart(settings) {
      const killed = server;
      server = await start(settings);
      await killed.stop();
    },
    async close() {
      await door.close();
      await server.stop();
      await removeFolder(folder);
    },
  };
}

interface Door {
  /** Returns a URL of the server with the forwarding port. */
  urlOf(url: string): string;
  close(): Promise<void>;
}

/** Opens a port that forwards connections to the server's current port. */
async function openDoor(port: () => number): Promise<Door> {
  const sockets = new Set<Socket>();
  const door = createServer({ noDelay: true }, (client) => {
    const server = connect({ port: port(), host: "127.0.0.1", noDelay: true });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
  const { port: own } = door.address() as AddressInfo;
  return {
    urlOf(url) {
      const changed = new URL(url);
      changed.port = String(own);
      return changed.href;
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        door.close(() => resolve());
      }),
  };
}
