import { type ConnectRouter, createConnectRouter } from "@connectrpc/connect";
import { cutResponse, goneSignal, type NodeRequest, type NodeResponse, readHeaders } from "@cupo/connect-rest/node";
import { sendStream } from "./send-stream.js";

/** Answers a request for an RPC of a router. Returns undefined for any other path. Never rejects. */
export type RouterHandler = (request: NodeRequest, response: NodeResponse) => Promise<void> | undefined;

/**
 * Returns a handler for the RPCs that `register` adds. Connect's own handlers serve them over Connect, gRPC and
 * gRPC-Web. The interceptors of operations, for example for authentication, do not run for these RPCs.
 */
export function createRouterHandler(register: (router: ConnectRouter) => void): RouterHandler {
  const router = createConnectRouter();
  register(router);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response) => {
    const handle = handlers.get(request.url?.split("?", 1)[0] ?? "");
    if (handle === undefined) return undefined;
    return answer(handle, request, response).catch(() => cutResponse(response));
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
