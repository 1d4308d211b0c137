import { createContextValues } from "@connectrpc/connect";
import { ServerReflection } from "@cupo/connect-introspection";
import { expect, test } from "vitest";
import { createRpcHandler } from "../../src/rpc/handler.js";

test("a method with a request stream is rejected at the start of the service, not at its first call", () => {
  const start = () =>
    createRpcHandler({
      services: [{ service: ServerReflection, implementation: {} }],
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
    });
  expect(start).toThrow("ServerReflectionInfo has client streaming, which is not supported");
});
