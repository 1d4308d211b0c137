import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type Interceptor } from "@connectrpc/connect";
import { ServerReflection } from "./gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "./gen/grpc/reflection/v1alpha/reflection_pb.js";
import { Health } from "./gen/health/v1/health_pb.js";
import { createHealth } from "./health.js";
import { createReflection } from "./reflection.js";

/** Options of the health and reflection services. */
export interface IntrospectionOptions {
  /** The services whose health and definitions are published. */
  readonly services: readonly DescService[];
  /** Resolves to whether the service can accept requests. */
  readonly isServing: () => Promise<boolean>;
  /** Aborts when the service stops. Open streams then end. */
  readonly stopping: AbortSignal;
  /** Whether reflection publishes the definitions of the services. */
  readonly reflection: boolean;
}

const MAX_MESSAGE_BYTES = 64 * 1024;
const MAX_STREAMS = 100;

/**
 * Registers health (grpc.health.v1) and optionally reflection (grpc.reflection v1 and v1alpha) on a router. At most 100
 * streams are open at once.
 */
export function introspection({
  services,
  isServing,
  stopping,
  reflection,
}: IntrospectionOptions): (router: ConnectRouter) => ConnectRouter {
  const options = {
    readMaxBytes: MAX_MESSAGE_BYTES,
    shutdownSignal: stopping,
    interceptors: [limitStreams(MAX_STREAMS)],
  };
  const listed = [...services, Health, ...(reflection ? [ServerReflection, ServerReflectionAlpha] : [])];
  const names = listed.map(({ typeName }) => typeName);
  return (router) => {
    router.service(Health, createHealth({ services: names, isReady: isServing, stopping }), options);
    if (!reflection) return router;
    const serverReflectionInfo = createReflection(listed);
    router.service(ServerReflection, { serverReflectionInfo }, options);
    return router.service(ServerReflectionAlpha, { serverReflectionInfo }, options);
  };
}

function limitStreams(max: number): Interceptor {
  let open = 0;
  return (next) => async (request) => {
    if (!request.stream) return next(request);
    if (request.signal.aborted || open >= max)
      throw new ConnectError("too many streams are open; close one first", Code.ResourceExhausted);
    open += 1;
    request.signal.addEventListener("abort", () => {
      open -= 1;
    });
    return next(request);
  };
}
