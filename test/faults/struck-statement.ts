import { eventually } from "../support/eventually.js";
import type { Way } from "../support/postgres-proxy.js";
import type { TestService } from "../support/service.js";

/** What is to happen to one of the statements that a service sends. */
export interface Strike {
  /** Resolves when all of it is over, with whether there was such a statement. */
  end(): Promise<boolean>;
}

/** The length of what is ahead of each message: a letter, and its length with itself. The first of a connection has no letter. */
const HEAD_BYTES = 5;
/** Bind, with which every statement of the extended protocol is sent, Query, and Sync, which ends a batch and asks for its answers. */
const STATEMENTS = new Set(["B", "Q", "S"]);

/**
 * Ends a backend by pg_terminate_backend when it has done all that was sent ahead of a statement, and in place of that. Counts
 * from 1 and from the next byte on, over all connections, those that travel in one batch one by one and the end of a batch as
 * one: at that behind COMMIT, the backend has committed and not said so.
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

/** Of the first message of the bytes, with its head; undefined where the bytes do not say yet. */
function lengthOf(bytes: Buffer): number | undefined {
  const headBytes = bytes[0] === 0 ? HEAD_BYTES - 1 : HEAD_BYTES;
  return bytes.length < headBytes ? undefined : headBytes - 4 + bytes.readInt32BE(headBytes - 4);
}

/** Waits until the backend has nothing more to do but to listen to its client. */
async function terminate(query: TestService["query"], pid: number | undefined): Promise<void> {
  if (pid === undefined) throw new Error("the proxy does not know the backend of a connection");
  const isIdle = `SELECT FROM pg_stat_activity WHERE pid = ${pid} AND wait_event = 'ClientRead'`;
  await eventually(async () => (await query(isIdle)).length === 1);
  await query(`SELECT pg_terminate_backend(${pid}, 10000)`);
}
