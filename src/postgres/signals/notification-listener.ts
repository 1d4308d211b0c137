import { randomUUID } from "node:crypto";
import { Client, type Pool } from "pg";
import { CHANNEL, NOTIFY, probePayload, readPayload } from "./change-signals.js";

const CONNECT_MS = 5_000;
/** A query fails if it gets no answer within this many milliseconds. */
const ANSWER_MS = 3_000;
/** A probe notification counts as lost if it does not arrive within this many milliseconds. */
const PROBE_MS = 1_000;

/** A dedicated connection that listens on {@link CHANNEL} (LISTEN) and calls `onChanged` with the changed tenants. */
export class NotificationListener {
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
    this.#client.on("notification", ({ payload = "" }) => this.#onNotification(payload));
  }

  /** Aborts when the connection is lost or closed. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Connects and sends LISTEN. Rejects if the database is not reachable. */
  async open(): Promise<void> {
    await this.#client.connect();
    await this.#client.query(`LISTEN ${CHANNEL}`);
  }

  /**
   * Sends a probe notification through `pool`. Returns whether the probe arrives at this listener within 1 s. Rejects
   * if the probe cannot be sent.
   */
  async receives(pool: Pick<Pool, "query">): Promise<boolean> {
    const probe = probePayload(randomUUID());
    const signal = AbortSignal.any([this.lost, AbortSignal.timeout(PROBE_MS)]);
    const received = new Promise<boolean>((resolve) => {
      this.#onProbe = (payload) => payload === probe && resolve(true);
      signal.addEventListener("abort", () => resolve(false));
      if (signal.aborted) resolve(false);
    });
    await pool.query(NOTIFY, [CHANNEL, probe]);
    return received;
  }

  /** Sends UNLISTEN, because a pooler may give the server connection to other clients. Then ends the connection. */
  async close(): Promise<void> {
    if (!this.lost.aborted) await this.#client.query("UNLISTEN *").catch(() => undefined);
    await this.#client.end().catch(() => undefined);
  }

  #onNotification(payload: string): void {
    if (payload.startsWith("probe ")) this.#onProbe(payload);
    else this.onChanged(readPayload(payload));
  }
}
