import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, createConnectRouter, type Interceptor } from "@connectrpc/connect";
import { goneSignal, type NodeRequest, type NodeResponse, readHeaders } from "@cupo/connect-rest/node";
import { ServerReflection } from "../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { Health } from "../gen/health/v1/health_pb.js";
import { sendStream } from "../rpc/send-stream.js";
import { createHealth } from "./health.js";
import { createReflection } from "./reflection.js";

/** Options of the health and reflection services. */
export interface IntrospectionOptions {
  /** The services whose health and definitions are published. */
  readonly services: readonly DescService[];
  /** Resolves to whether the service can accept requests. */
  readonly isReady: () => Promise<boolean>;
  /** Aborts when the service stops. Open streams then end. */
  readonly stopping: AbortSignal;
  /** Whether reflection publishes the definitions of the services. */
  readonly reflects: boolean;
}

/** Answers a request for health or reflection. Returns undefined for any other path. Never rejects. */
export type IntrospectionHandler = (request: NodeRequest, response: NodeResponse) => Promise<void> | undefined;

const MAX_MESSAGE_BYTES = 64 * 1024;
const MAX_STREAMS = 100;

/**
 * Serves health (grpc.health.v1) and optionally reflection (grpc.reflection v1 and v1alpha) over Connect, gRPC and
 * gRPC-Web.
 *
 * Supervisors and tools expect these services without access tokens. Every caller of the internal listener can
 * therefore read the service definitions and their health. At most 100 streams are open at once.
 */
export function createIntrospection({
  services,
  isReady,
  stopping,
  reflects,
}: IntrospectionOptions): IntrospectionHandler {
  const router = createConnectRouter({
    readMaxBytes: MAX_MESSAGE_BYTES,
    shutdownSignal: stopping,
    interceptors: [limitStreams(MAX_STREAMS)],
  });
  const listed = [...services, Health, ...(reflects ? [ServerReflection, ServerReflectionAlpha] : [])];
  router.service(Health, createHealth({ services: listed.map(({ typeName }) => typeName), isReady, stopping }));
  if (reflects) {
    const serverReflectionInfo = createReflection(listed);
    router.service(ServerReflection, { serverReflectionInfo });
    router.service(ServerReflectionAlpha, { serverReflectionInfo });
  }
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response) => {
    const handle = handlers.get(request.url?.split("?", 1)[0] ?? "");
    if (handle === undefined) return undefined;
    return answer(handle, request, response).catch(() => void response.destroy());
  };
}

type Handle = ReturnType<typeof createConnectRouter>["handlers"][number];

async function answer(handle: Handle, request: NodeRequest, response: NodeResponse): Promise<void> {
  const answered = await handle({
    httpVersion: request.httpVersion,
    url: `http://localhost${request.url}`,
    method: request.method ?? "",
    header: readHeaders(request.rawHeaders),
    body: request,
    signal: goneSignal(request, response),
  });
  await sendStream(answered, response);
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
