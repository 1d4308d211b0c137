import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { knock, type TcpAddress } from "./knock.js";

/** What watching for silence needs. */
export interface SilenceOptions {
  /** Where the database is, by name: what a connection is open to may not be it any more. */
  readonly home: TcpAddress;
  /** Told that nothing is heard of the database, and that it is heard again. */
  readonly onSilent: (isSilent: boolean) => void;
  /** The network's and the clock's own unless given. */
  readonly isHeard?: (address: TcpAddress, withinMs: number) => Promise<boolean>;
  readonly pause?: (ms: number) => Promise<unknown>;
}

/** How long nobody asks while nothing comes, and how long a question waits for its answer. Two questions are asked. */
const PACE_MS = 300;
const WITHIN_MS = 800;
const QUESTIONS = 2;
/** What who waits for an answer that does not come is told; it means that the connection is lost. */
const MESSAGE = "Query read timeout";

/**
 * Knows whether a database is heard at all, which no statement can tell by itself: one may take long. While answers are awaited and
 * nothing comes over any of the connections, the server that they are open to is knocked at, over none of them. Where that is not
 * answered either, twice in a row, all of them are broken, and the database is silent until a knock at its home is answered. A database
 * that is slow, locked or has no connection left is heard; one that nobody waits for is not asked.
 */
export class SilenceWatch {
  #isSilent = false;
  #isWatching = false;
  #isClosed = false;
  /** Those over which an answer is awaited. */
  readonly #awaited = new Set<Socket>();
  readonly #isHeard: NonNullable<SilenceOptions["isHeard"]>;
  readonly #pause: NonNullable<SilenceOptions["pause"]>;

  constructor(private readonly options: SilenceOptions) {
    this.#isHeard = options.isHeard ?? knock;
    this.#pause = options.pause ?? ((ms) => delay(ms, undefined, { ref: false }));
  }

  /** Whether nothing was heard of the database for a while, and has not been since. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** Somebody begins to use a connection, and waits for what comes over it until {@link end}. */
  begin(socket: Socket): void {
    this.#awaited.add(socket);
    if (!this.#isWatching) void this.#watch();
  }

  end(socket: Socket): void {
    this.#awaited.delete(socket);
  }

  close(): void {
    this.#isClosed = true;
  }

  async #watch(): Promise<void> {
    this.#isWatching = true;
    while (this.#awaited.size > 0 && !this.#isClosed) {
      const before = this.#bytes();
      await this.#pause(PACE_MS);
      if (await this.#isSilentSince(before)) await this.#beSilent();
    }
    this.#isWatching = false;
  }

  async #isSilentSince(before: ReadonlyMap<Socket, number>): Promise<boolean> {
    for (let asked = 0; asked < QUESTIONS; asked += 1) {
      const address = Array.from(before.keys(), addressOf).find((known) => known !== undefined);
      if (address === undefined || this.#hasHeard(before)) return false;
      if (await this.#isHeard(address, WITHIN_MS)) return false;
    }
    return !this.#hasHeard(before);
  }

  async #beSilent(): Promise<void> {
    this.#isSilent = true;
    this.options.onSilent(true);
    for (const socket of this.#awaited) socket.destroy(new Error(MESSAGE));
    this.#awaited.clear();
    while (!this.#isClosed && !(await this.#isHeard(this.options.home, WITHIN_MS))) await this.#pause(PACE_MS);
    this.#isSilent = false;
    if (!this.#isClosed) this.options.onSilent(false);
  }

  /** What came over each connection so far. */
  #bytes(): ReadonlyMap<Socket, number> {
    return new Map(Array.from(this.#awaited, (socket) => [socket, socket.bytesRead]));
  }

  /** Whether something came over one of these connections, or one of them is not used any more. */
  #hasHeard(before: ReadonlyMap<Socket, number>): boolean {
    return Array.from(before).some(([socket, bytes]) => !this.#awaited.has(socket) || socket.bytesRead !== bytes);
  }
}

/** A socket of the machine itself has no address, and no network that could swallow anything. */
function addressOf({ remoteAddress, remotePort }: Socket): TcpAddress | undefined {
  return remoteAddress === undefined || remotePort === undefined
    ? undefined
    : { host: remoteAddress, port: remotePort };
}
