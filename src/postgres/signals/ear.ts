import { randomUUID } from "node:crypto";
import { Client, type Pool } from "pg";
import { CHANNEL, probePayload, readPayload, SAY } from "./change-signals.js";

const CONNECT_MS = 5_000;
/** A connection that does not answer within this is given up. */
const ANSWER_MS = 3_000;
/** What is said comes within this, or is not heard. */
const PROBE_MS = 1_000;

/** A connection of its own that listens on the channel. */
export class Ear {
  readonly #client: Client;
  readonly #lost = new AbortController();
  #onProbe: (id: string) => void = () => undefined;

  constructor(
    url: string,
    private readonly onChanged: (tenantIds: readonly string[]) => void,
  ) {
    this.#client = new Client({
      connectionString: url,
      application_name: "cupo-events",
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
    });
    this.#client.on("error", () => this.#lost.abort());
    this.#client.on("end", () => this.#lost.abort());
    this.#client.on("notification", ({ payload = "" }) => this.#hear(payload));
  }

  /** Aborts when the connection is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Connects and listens. Rejects where the database is away. */
  async open(): Promise<void> {
    await this.#client.connect();
    await this.#client.query(`LISTEN ${CHANNEL}`);
  }

  /** Whether something that is said on another connection is heard here. */
  async hears(pool: Pick<Pool, "query">): Promise<boolean> {
    const probe = probePayload(randomUUID());
    const signal = AbortSignal.any([this.lost, AbortSignal.timeout(PROBE_MS)]);
    const heard = new Promise<boolean>((resolve) => {
      this.#onProbe = (payload) => payload === probe && resolve(true);
      signal.addEventListener("abort", () => resolve(false));
      if (signal.aborted) resolve(false);
    });
    await pool.query(SAY, [CHANNEL, probe]);
    return heard;
  }

  /** Ends the connection, and takes LISTEN back from one of a pooler's, which others go on to use. */
  async close(): Promise<void> {
    if (!this.lost.aborted) await this.#client.query("UNLISTEN *").catch(() => undefined);
    await this.#client.end().catch(() => undefined);
  }

  #hear(payload: string): void {
    if (payload.startsWith("probe ")) this.#onProbe(payload);
    else this.onChanged(readPayload(payload));
  }
}
