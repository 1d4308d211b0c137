import { request as requestHttp1 } from "node:http";
import { connect } from "node:http2";
import { createContextValues } from "@connectrpc/connect";
import { Health, ServerReflection } from "@cupo/connect-introspection";
import { expect, onTestFinished, test } from "vitest";
import { createRpcHandler, type RpcHandlerOptions } from "../../src/rpc/handler.js";
import { startListener } from "../http/start-listener.js";

const options: RpcHandlerOptions = {
  services: [],
  translateErrors: () => (next) => next,
  headerInterceptors: () => [],
  interceptors: () => [],
  openValues: () => createContextValues(),
  validate: () => () => [],
  refuse: () => () => new Error("refused"),
  maxBodyBytes: 1_000,
  maxDepth: 16,
  maxTimeLimitMs: 1_000,
  maxStreamMs: 1_000,
};

test("a method with a request stream is rejected at the start of the service, not at its first call", () => {
  const start = () => createRpcHandler({ ...options, services: [{ service: ServerReflection, implementation: {} }] });
  expect(start).toThrow("ServerReflectionInfo has client streaming, which is not supported");
});

test("a call that fails outside all interceptors is cut: INTERNAL_ERROR over HTTP/2, a closed connection over HTTP/1.1", async () => {
  const openValues = () => {
    throw new Error("no values");
  };
  const handle = createRpcHandler({ ...options, services: [{ service: Health, implementation: {} }], openValues });
  const { url } = await startListener({ handler: (request, response) => void handle(request, response) });
  const path = `/${Health.typeName}/Check`;
  const headers = { "content-type": "application/json" };
  const session = connect(url);
  onTestFinished(() => session.destroy());
  const stream = session.request({ ":method": "POST", ":path": path, ...headers }).end("{}");
  const failure = await new Promise<Error>((resolve) => stream.on("error", resolve));
  expect(failure.message).toBe("Stream closed with error code NGHTTP2_INTERNAL_ERROR");
  const request = requestHttp1(`${url}${path}`, { method: "POST", headers }).end("{}");
  const error = await new Promise<NodeJS.ErrnoException>((resolve) => request.on("error", resolve));
  expect(error.code).toBe("ECONNRESET");
});
