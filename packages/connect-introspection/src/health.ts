import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { type Health, HealthCheckResponse_ServingStatus as Status } from "./gen/health/v1/health_pb.js";
import { once } from "./once.js";
import type { OpenStream } from "./open-streams.js";
import { createProbe, type Probe } from "./probe.js";
import { delay, unlessAborted } from "./until-aborted.js";

export interface HealthOptions {
  /** Returns the full names of the services. Called once, at the first request. */
  readonly services: () => readonly string[];
  /** Returns whether the server can take requests now. */
  readonly isServing: () => boolean | Promise<boolean>;
  /**
   * Returns whether the service of this full name can take requests now. Without this function, each service has the
   * status of the server.
   */
  readonly isServiceServing?: ((service: string) => boolean | Promise<boolean>) | undefined;
  /** Aborts when the server stops. */
  readonly stopping?: AbortSignal | undefined;
  readonly watchIntervalMs: number;
  readonly openStream: OpenStream;
}

/**
 * Implements the health service (github.com/grpc/grpc/blob/master/doc/health-checking.md). The empty service name
 * stands for the whole server.
 * - A service is SERVING only while the server is SERVING too.
 * - Watchers receive a change within the duration of the checks plus two times `watchIntervalMs`. All watchers share
 *   the results of the same checks.
 * - When the server stops, every known service becomes NOT_SERVING, and its watchers receive this change.
 */
export function createHealth(options: HealthOptions): ServiceImpl<typeof Health> {
  const { isServing, watchIntervalMs, openStream, stopping } = options;
  const server = createProbe(isServing, watchIntervalMs);
  const probes = once(() => probesOf(options));
  const statusOf = async (name: string, isUp: Promise<boolean>, age: keyof Probe) => {
    const serves = (await isUp) && (await (probes().get(name)?.[age]() ?? true));
    return serves && !stopping?.aborted ? Status.SERVING : Status.NOT_SERVING;
  };
  return {
    async check({ service }) {
      if (!probes().has(service)) throw new ConnectError("this server has no service of this name", Code.NotFound);
      return { status: await statusOf(service, server.now(), "now") };
    },
    async list() {
      const isUp = server.now();
      const names = [...probes().keys()];
      const statuses = await Promise.all(names.map((name) => statusOf(name, isUp, "now")));
      return { statuses: Object.fromEntries(names.map((name, index) => [name, { status: statuses[index] ?? 0 }])) };
    },
    async *watch({ service }, context: HandlerContext) {
      const signal = openStream(context.signal);
      const isKnown = probes().has(service);
      const ask = () => (isKnown ? statusOf(service, server.recent(), "recent") : unknown);
      let told: Status | undefined;
      while (!signal.aborted) {
        const status = await unlessAborted(ask(), signal);
        if (status !== undefined && status !== told) yield { status };
        told = status ?? told;
        await delay(watchIntervalMs, signal);
      }
      if (stopping?.aborted && isKnown && told !== Status.NOT_SERVING) yield { status: Status.NOT_SERVING };
      throwReason(signal);
    },
  };
}

const unknown = Promise.resolve(Status.SERVICE_UNKNOWN);

/**
 * Returns the probe of each service by the name of the service. The probe is undefined if the status of the server
 * alone decides:
 * - for the name "", which stands for the server
 * - for every name, if there is no `isServiceServing`
 */
function probesOf({ services, isServiceServing, watchIntervalMs }: HealthOptions): Map<string, Probe | undefined> {
  const probeOf = (name: string) => isServiceServing && createProbe(() => isServiceServing(name), watchIntervalMs);
  return new Map([["", undefined], ...services().map((name) => [name, probeOf(name)] as const)]);
}

/**
 * Throws the reason of an aborted stream if the reason is a ConnectError other than `canceled`, such as an expired
 * deadline. Does nothing for other reasons, such as a caller that disconnected.
 */
function throwReason({ reason }: AbortSignal): void {
  if (reason instanceof ConnectError && reason.code !== Code.Canceled) throw reason;
}
