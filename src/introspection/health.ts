import { setTimeout as delay } from "node:timers/promises";
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { type Health, HealthCheckResponse_ServingStatus as Status } from "../gen/health/v1/health_pb.js";

/** Whose health is told, and how it is known. */
export interface HealthOptions {
  /** Full names of the services. All of them share one process and one database, so they are well or not together. */
  readonly services: readonly string[];
  /** Whether the service can take requests now. */
  readonly isReady: () => Promise<boolean>;
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal;
}

const EVERY_MS = 1_000;

/**
 * The health of the services, and under the empty name of all together, as `/readyz` tells it
 * (github.com/grpc/grpc/blob/master/doc/health-checking.md). Whoever watches is told of a change within a second or two, however
 * many watch, and that nothing is served any more when the service stops.
 */
export function createHealth({ services, isReady, stopping }: HealthOptions): ServiceImpl<typeof Health> {
  const known = new Set(["", ...services]);
  const statusNow = async () => ((await isReady().catch(() => false)) ? Status.SERVING : Status.NOT_SERVING);
  const sharedStatus = sharedFor(EVERY_MS, statusNow);
  return {
    async check({ service }) {
      if (!known.has(service)) throw new ConnectError("there is no such service", Code.NotFound);
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

/** Asks at most once in `ms`, however many want to know. */
function sharedFor<T>(ms: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly answer: Promise<T> } | undefined;
  return () => {
    if (last === undefined || performance.now() - last.at >= ms) last = { at: performance.now(), answer: ask() };
    return last.answer;
  };
}
