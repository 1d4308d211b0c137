import { eventually } from "../support/eventually.js";
import type { Way } from "../support/postgres-proxy.js";
import type { TestService } from "../support/service.js";

/** A fault at one of the statements that a service sends. */
export interface Strike {
  /** Ends the fault and waits for its completion. Resolves with whether it happened. */
  end(): Promise<boolean>;
}

/**
 * Length of a message header: the type (1 byte) and the length (4 bytes). The first message of a connection has no
 * type.
 */
const HEAD_BYTES = 5;
/** Bind (one per statement of the extended protocol), Query, and Sync (end of a batch, which requests its answers). */
const STATEMENTS = new Set(["B", "Q", "S"]);

/**
 * Terminates a backend with pg_terminate_backend instead of forwarding a message, after the backend has processed
 * everything before it. `statement` counts the messages of `STATEMENTS` from 1, over all connections and from now on.
 * If the message is the Sync after COMMIT, the backend has committed but not acknowledged.
 */
export function strikeAt({ proxy, query }: Pick<TestService, "proxy" | "query">, statement: number): Strike {
  const pending = new Map<number, Buffer>();
  let count = 0;
  let struckOn: number | undefined;
  let struck: Promise<void> | undefined;
  const take = (way: Way, data: Buffer) => {
    if (struckOn === way.number) return;
    let left = Buffer.concat([pending.get(way.number) ?? Buffer.alloc(0), data]);
    for (let length = lengthOf(left); length !== undefined && left.length >= length; length = lengthOf(left)) {
      if (STATEMENTS.has(String.fromCharCode(left[0] ?? 0)) && ++count === statement) {
        struckOn = way.number;
        struck = terminate(query, way.pid);
        return;
      }
      way.forward(left.subarray(0, length));
      left = left.subarray(length);
    }
    pending.set(way.number, left);
  };
  proxy.divert(take);
  return {
    async end() {
      proxy.divert(undefined);
      await struck;
      return struck !== undefined;
    },
  };
}

/** Returns the length of the first message with its header; undefined while the header is incomplete. */
function lengthOf(bytes: Buffer): number | undefined {
  const headBytes = bytes[0] === 0 ? HEAD_BYTES - 1 : HEAD_BYTES;
  return bytes.length < headBytes ? undefined : headBytes - 4 + bytes.readInt32BE(headBytes - 4);
}

/** Waits until the backend is idle and waits for its client, then terminates it. */
async function terminate(query: TestService["query"], pid: number | undefined): Promise<void> {
  if (pid === undefined) throw new Error("the proxy does not know the backend of a connection");
  const isIdle = `SELECT FROM pg_stat_activity WHERE pid = ${pid} AND wait_event = 'ClientRead'`;
  await eventually(async () => (await query(isIdle)).length === 1);
  await query(`SELECT pg_terminate_backend(${pid}, 10000)`);
}
