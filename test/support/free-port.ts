import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * The ports of the tests: below those that systems give to outgoing connections, which might take a free one before it
 * is used.
 */
const [FIRST, END] = [20_000, 32_000];
/** Number of ports of each worker of Vitest, so that no two workers that run at once take the same port. */
const OF_A_WORKER = 1_000;
const WORKERS = (END - FIRST) / OF_A_WORKER;
const first = FIRST + (Number(process.env["VITEST_POOL_ID"] ?? 0) % WORKERS) * OF_A_WORKER;

/** The port to try next. The first is random, because another run of the tests may use the same workers' ports. */
let next = randomInt(OF_A_WORKER);

/** Returns an unused port of the loopback address, for programs that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  const port = first + next;
  next = (next + 1) % OF_A_WORKER;
  const server = createServer().listen(port, "127.0.0.1");
  const isFree = await once(server, "listening").then(
    () => true,
    () => false,
  );
  if (!isFree) return freePort();
  server.close();
  await once(server, "close");
  return port;
}
