import { createContextValues } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { ServerReflection } from "../../src/gen/grpc/reflection/v1/reflection_pb.js";
import { createRpcHandler } from "../../src/rpc/handler.js";

test("a method that takes a stream is refused when the service starts, and not when it is called", () => {
  const start = () =>
    createRpcHandler({
      services: [{ service: ServerReflection, implementation: {} }],
      onHeaders: [],
      onMessage: [],
      openValues: () => createContextValues(),
      validate: () => [],
      refuse: () => new Error("refused"),
      maxBodyBytes: 1_000,
      maxDepth: 16,
      maxTimeLimitMs: 1_000,
      maxStreamMs: 1_000,
      stalledMs: 1_000,
    });
  expect(start).toThrow("ServerReflectionInfo takes a stream");
});
