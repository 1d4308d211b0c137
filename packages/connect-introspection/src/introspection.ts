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
   * The services whose health and definitions are published. Health and reflection are added if they are registered.
   * Defaults to all services that the router has at the first request for health or reflection.
   */
  readonly services?: readonly DescService[] | undefined;
  /**
   * Returns whether the server can take requests now. Defaults to always true. An exception or a rejection counts as
   * false.
   */
  readonly isServing?: (() => boolean | Promise<boolean>) | undefined;
  /**
   * Returns whether the service of this full name can take requests now. While `isServing` returns false, every
   * service is NOT_SERVING. By default each service has the status of the server. An exception or a rejection counts
   * as false.
   */
  readonly isServiceServing?: ((service: string) => boolean | Promise<boolean>) | undefined;
  /**
   * Aborts when the server stops. Every status is then NOT_SERVING, the watchers of known services receive NOT_SERVING,
   * and open streams end. Without this option, the `shutdownSignal` of a Connect adapter ends streams, but watchers do
   * not receive NOT_SERVING.
   */
  readonly stopping?: AbortSignal | undefined;
  /** Whether health (grpc.health.v1) is registered. Defaults to true. */
  readonly health?: boolean | undefined;
  /** Whether reflection (grpc.reflection v1 and v1alpha) is registered. Defaults to true. */
  readonly reflection?: boolean | undefined;
  /**
   * Maximum number of open streams of one router. Health watches and reflection streams count together. Further streams
   * fail with resource_exhausted. Defaults to 100.
   */
  readonly maxStreams?: number | undefined;
  /** Milliseconds between two checks of a service that is watched. Defaults to 1000. */
  readonly watchIntervalMs?: number | undefined;
  /**
   * The interceptors of health and reflection. They replace the interceptors of the router, so with an empty list no
   * interceptor authenticates the callers. Defaults to the interceptors of the router.
   */
  readonly interceptors?: readonly Interceptor[] | undefined;
}

const MAX_MESSAGE_BYTES = 64 * 1024;

/**
 * Returns a function that registers gRPC health and server reflection on a Connect router. The function returns the
 * router. Both services refuse request messages over 64 KiB. `introspection` itself throws a RangeError if `maxStreams`
 * or `watchIntervalMs` is not a positive integer.
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

/** Returns the published services, including health and reflection if they are registered. Each service occurs once. */
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
