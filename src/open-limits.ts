import type { Logger } from "pino";
import type { ChainPorts } from "./interceptors/chain.js";
import { createTurnAway } from "./interceptors/places/turn-away.js";
import { createWorkplaces } from "./interceptors/places/workplaces.js";
import { openQuotas } from "./quotas/open-quotas.js";
import type { Config } from "./settings/config.js";
import type { Telemetry } from "./telemetry/open-telemetry.js";

/** What keeps callers within what they may have, and the service within what it can do. */
export type Limits = Pick<ChainPorts, "rateLimiter" | "places" | "streams" | "turnAway">;

/** How many calls wait for each connection where nothing else is set: they take some tenths of a second, and a call waits for two. */
const WAITING_FOR_EACH = 10;

/** Opens the quotas and the places, and has both measured. As many calls are at work as have a connection, to a replica too. */
export function openLimits(
  {
    rateLimit,
    callsAtWork,
    streams,
    databaseUrl,
    databaseConnections,
    replicaUrl,
    waitSeconds,
  }: Omit<Config, "databaseUrl"> & { readonly databaseUrl: string },
  logger: Logger,
  { pools, service }: Telemetry,
  closers: (() => Promise<void> | void)[],
): Limits {
  const all = databaseConnections.calls * (replicaUrl === undefined ? 1 : 2);
  const patienceMs = waitSeconds * 1_000;
  const waiting = callsAtWork.waiting ?? all * WAITING_FOR_EACH;
  const places = createWorkplaces({ ...callsAtWork, all, waiting, patienceMs });
  service.watchWaiting(() => places.waiting);
  const quotas = openQuotas({ ...rateLimit, withinMs: patienceMs }, databaseUrl, logger);
  closers.push(() => quotas.close());
  if (quotas.pool !== undefined) pools.watch("quotas", quotas.pool);
  const { rateLimiter } = quotas;
  return { rateLimiter, places, streams: createWorkplaces({ ...streams, patienceMs }), turnAway: createTurnAway() };
}
