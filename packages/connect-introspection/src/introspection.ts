import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter, Interceptor } from "@connectrpc/connect";
import { ServerReflection } from "./gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "./gen/grpc/reflection/v1alpha/reflection_pb.js";
import { Health } from "./gen/health/v1/health_pb.js";
import { createHealth } from "./health.js";
import { once } from "./once.js";
import { createOpenStreams } from "./open-streams.js";
import { createReflection } from "./reflection.js";

/** Options of {@link introspection}. Each has a default. */
export interface IntrospectionOptions {
  /**
   * The services whose health and definitions are published, beside health and reflection themselves. By default all
   * services of the router, including those that are registered later.
   */
  readonly services?: readonly DescService[] | undefined;
  /**
   * Returns whether the server can take requests now. By default it always can. An exception and a rejection count as
   * false.
   */
  readonly isServing?: (() => boolean | Promise<boolean>) | undefined;
  /**
   * Returns whether one service can take requests now, by its full name. It decides only while `isServing` returns true.
   * By default each service has the status of the server.
   */
  readonly isServiceServing?: ((service: string) => boolean | Promise<boolean>) | undefined;
  /**
   * Aborts when the server stops. Nothing serves from then on, watchers receive NOT_SERVING, and open streams end.
   * Without this option the `shutdownSignal` of an adapter ends streams without that status.
   */
  readonly stopping?: AbortSignal | undefined;
  /** Whether health (grpc.health.v1) is registered. Defaults to true. */
  readonly health?: boolean | undefined;
  /** Whether reflection (grpc.reflection v1 and v1alpha) is registered. Defaults to true. */
  readonly reflection?: boolean | undefined;
  /** The number of watches and reflection streams that are open at once. Defaults to 100; one more is refused. */
  readonly maxStreams?: number | undefined;
  /** Milliseconds between two checks for the watchers of a service. Defaults to 1000. */
  readonly watchIntervalMs?: number | undefined;
  /**
   * The interceptors of health and reflection, instead of those of the router. With an empty list, callers need no
   * token.
   */
  readonly interceptors?: readonly Interceptor[] | undefined;
}

const MAX_MESSAGE_BYTES = 64 * 1024;

/**
 * Returns a function that registers gRPC health and server reflection on a router of Connect, and returns the router.
 * Messages of callers are at most 64 KiB. Throws a RangeError for a limit that is not a positive integer.
 */
export function introspection(options: IntrospectionOptions = {}): (router: ConnectRouter) => ConnectRouter {
  const { health = true, reflection = true, maxStreams = 100, watchIntervalMs = 1_000 } = options;
  const { isServing = () => true, isServiceServing, stopping, interceptors } = options;
  requirePositive({ maxStreams, watchIntervalMs });
  const handlerOptions = {
    readMaxBytes: MAX_MESSAGE_BYTES,
    ...(interceptors && { interceptors: [...interceptors] }),
  };
  return (router) => {
    const openStream = createOpenStreams(maxStreams, stopping);
    const services = once(() => servicesOf(router, options));
    if (health) {
      const names = () => services().map(({ typeName }) => typeName);
      const from = { services: names, isServing, isServiceServing, stopping, watchIntervalMs, openStream };
      router.service(Health, createHealth(from), handlerOptions);
    }
    if (reflection) {
      const serverReflectionInfo = createReflection({ services, openStream });
      router.service(ServerReflection, { serverReflectionInfo }, handlerOptions);
      router.service(ServerReflectionAlpha, { serverReflectionInfo }, handlerOptions);
    }
    return router;
  };
}

/** Returns the published services, each name once. */
function servicesOf({ handlers }: ConnectRouter, options: IntrospectionOptions): readonly DescService[] {
  const { health = true, reflection = true } = options;
  const own = [...(health ? [Health] : []), ...(reflection ? [ServerReflection, ServerReflectionAlpha] : [])];
  const services = options.services ?? handlers.map(({ service }) => service);
  return [...new Map([...services, ...own].map((service) => [service.typeName, service])).values()];
}

function requirePositive(limits: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isInteger(value) || value < 1) throw new RangeError(`${name} must be a positive integer, not ${value}`);
  }
}
