import { setTimeout as delay } from "node:timers/promises";
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { type Health, HealthCheckResponse_ServingStatus as Status } from "./gen/health/v1/health_pb.js";

/** Options of the health service. */
export interface HealthOptions {
  /** Full names of the services. They share one process and one database, so all of them have the same health. */
  readonly services: readonly string[];
  /** Resolves to whether the service can accept requests now. */
  readonly isReady: () => Promise<boolean>;
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal;
}

const EVERY_MS = 1_000;

/**
 * Implements the health service (github.com/grpc/grpc/blob/master/doc/health-checking.md). All services, and the empty
 * name for the whole process, have the status of `/readyz`.
 *
 * A watcher receives a change within two seconds, and NOT_SERVING when the service stops. The number of watchers does
 * not affect the number of checks.
 */
export function createHealth({ services, isReady, stopping }: HealthOptions): ServiceImpl<typeof Health> {
  const known = new Set(["", ...services]);
  const statusNow = async () => ((await isReady().catch(() => false)) ? Status.SERVING : Status.NOT_SERVING);
  const sharedStatus = sharedFor(EVERY_MS, statusNow);
  return {
    async check({ service }) {
      if (!known.has(service)) throw new ConnectError("this server has no service of this name", Code.NotFound);
      return { status: await statusNow() };
    },
    async list() {
      const status = await statusNow();
      return { statuses: Object.fromEntries(Array.from(known, (name) => [name, { status }])) };
    },
    async *watch({ service }, { signal }: HandlerContext) {
      let told: Status | undefined;
      while (!signal.aborted) {
        const status = known.has(service) ? await sharedStatus() : Status.SERVICE_UNKNOWN;
        if (status !== told) yield { status };
        told = status;
        await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
      }
      if (stopping.aborted && told === Status.SERVING) yield { status: Status.NOT_SERVING };
    },
  };
}

/** Returns a function that calls `ask` at most once in `ms` milliseconds and shares the result among its callers. */
function sharedFor<T>(ms: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly answer: Promise<T> } | undefined;
  return () => {
    if (last === undefined || performance.now() - last.at >= ms) last = { at: performance.now(), answer: ask() };
    return last.answer;
  };
}
