import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { probeServer, type TcpAddress } from "./tcp-probe.js";

export interface ReachabilityOptions {
  /** The configured address of the database. After a failover, its host name may lead to another server than before. */
  readonly address: TcpAddress;
  /** Called with true when the database becomes unreachable, and with false when it is reachable again. */
  readonly onUnreachable: (isUnreachable: boolean) => void;
  /** Tests set `probe` and `pause`, to replace the network and the clock. */
  readonly probe?: (address: TcpAddress, withinMs: number) => Promise<boolean>;
  readonly pause?: (ms: number) => Promise<unknown>;
}

/**
 * The pause in milliseconds before each check, and between probes of an unreachable database. A check sends at most two
 * probes.
 */
const PAUSE_MS = 300;
const PROBE_TIMEOUT_MS = 800;
/** After this many failed probes in a row, the database is unreachable. */
const FAILED_PROBES = 2;
/**
 * The error message of queries on connections that the monitor destroys. `classifyFailure` reads this message as a lost
 * connection.
 */
const MESSAGE = "Query read timeout";

/**
 * Detects an unreachable database. While connections are in use and no bytes arrive over them, it probes the server
 * over a separate TCP connection. After two failed probes in a row it destroys all connections in use. The database
 * then counts as unreachable until its configured address answers a probe.
 *
 * A database that is slow, locked or out of connections still answers the probe. While the database counts as
 * reachable, it is probed only if a connection over TCP is in use.
 */
export class ReachabilityMonitor {
  #isUnreachable = false;
  #isRunning = false;
  #isClosed = false;
  /** The connections in use. */
  readonly #pending = new Set<Socket>();
  readonly #probe: NonNullable<ReachabilityOptions["probe"]>;
  readonly #pause: NonNullable<ReachabilityOptions["pause"]>;

  constructor(private readonly options: ReachabilityOptions) {
    this.#probe = options.probe ?? probeServer;
    this.#pause = options.pause ?? ((ms) => delay(ms, undefined, { ref: false }));
  }

  get isUnreachable(): boolean {
    return this.#isUnreachable;
  }

  /** Monitors a connection in use, until {@link end} is called for it. */
  begin(socket: Socket): void {
    this.#pending.add(socket);
    if (!this.#isRunning) void this.#run();
  }

  end(socket: Socket): void {
    this.#pending.delete(socket);
  }

  close(): void {
    this.#isClosed = true;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#pending.size > 0 && !this.#isClosed) {
      const before = this.#bytes();
      await this.#pause(PAUSE_MS);
      if (await this.#isUnreachableSince(before)) await this.#becomeUnreachable();
    }
    this.#isRunning = false;
  }

  async #isUnreachableSince(before: ReadonlyMap<Socket, number>): Promise<boolean> {
    for (let failed = 0; failed < FAILED_PROBES; failed += 1) {
      const address = Array.from(before.keys(), addressOf).find((known) => known !== undefined);
      if (address === undefined || this.#hasReceived(before)) return false;
      if (await this.#probe(address, PROBE_TIMEOUT_MS)) return false;
    }
    return !this.#hasReceived(before);
  }

  async #becomeUnreachable(): Promise<void> {
    this.#isUnreachable = true;
    this.options.onUnreachable(true);
    for (const socket of this.#pending) socket.destroy(new Error(MESSAGE));
    this.#pending.clear();
    while (!this.#isClosed && !(await this.#probe(this.options.address, PROBE_TIMEOUT_MS))) await this.#pause(PAUSE_MS);
    this.#isUnreachable = false;
    if (!this.#isClosed) this.options.onUnreachable(false);
  }

  /** Returns the number of bytes received so far over each connection in use. */
  #bytes(): ReadonlyMap<Socket, number> {
    return new Map(Array.from(this.#pending, (socket) => [socket, socket.bytesRead]));
  }

  /** Whether bytes arrived over one of these connections, or one of these connections is no longer in use. */
  #hasReceived(before: ReadonlyMap<Socket, number>): boolean {
    return Array.from(before).some(([socket, bytes]) => !this.#pending.has(socket) || socket.bytesRead !== bytes);
  }
}

/**
 * Returns the address of the server of a connection; undefined for a Unix domain socket, which uses no network, and for
 * a closed connection.
 */
function addressOf({ remoteAddress, remotePort }: Socket): TcpAddress | undefined {
  return remoteAddress === undefined || remotePort === undefined
    ? undefined
    : { host: remoteAddress, port: remotePort };
}
