import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, createConnectRouter, type Interceptor } from "@connectrpc/connect";
import { ServerReflection } from "../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { Health } from "../gen/health/v1/health_pb.js";
import { goneSignal } from "../rest/gone-signal.js";
import type { NodeRequest } from "../rest/read-body.js";
import type { NodeResponse } from "../rest/send-response.js";
import { readHeaders } from "../rest/web-headers.js";
import { sendStream } from "../rpc/send-stream.js";
import { createHealth } from "./health.js";
import { createReflection } from "./reflection.js";

/** What the services that tell of the others need. */
export interface IntrospectionOptions {
  readonly services: readonly DescService[];
  readonly isReady: () => Promise<boolean>;
  /** Aborts when the service stops; streams end with it. */
  readonly stopping: AbortSignal;
  /** Whether the definitions of the services are given. */
  readonly reflects: boolean;
}

/** Answers a request for one of these services; undefined for any other. Never rejects. */
export type IntrospectionHandler = (request: NodeRequest, response: NodeResponse) => Promise<void> | undefined;

const MAX_MESSAGE_BYTES = 64 * 1024;
const MAX_STREAMS = 100;
const STALLED_MS = 30_000;

/**
 * Health (grpc.health.v1) and, unless it is switched off, reflection (grpc.reflection v1 and v1alpha) by Connect, gRPC and
 * gRPC-Web. Without access tokens, as supervisors and tools expect: who gets here is inside, and learns which services there are
 * and whether they are well. A hundred streams in all are open at once.
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
    header: readHeaders(request),
    body: request,
    signal: goneSignal(request, response),
  });
  await sendStream(answered, response, STALLED_MS);
}

function limitStreams(max: number): Interceptor {
  let open = 0;
  return (next) => async (request) => {
    if (!request.stream) return next(request);
    if (request.signal.aborted || open >= max)
      throw new ConnectError("too many streams are open", Code.ResourceExhausted);
    open += 1;
    request.signal.addEventListener("abort", () => {
      open -= 1;
    });
    return next(request);
  };
}
