import { create, type DescMethodUnary, fromJson, toJson } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { CupoError } from "../../src/errors.js";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { createRejectionPacing } from "../../src/interceptors/concurrency/rejection-pacing.js";
import { type ConcurrencyLimiter, concurrencyLimit } from "../../src/interceptors/concurrency-limit.js";
import { type IdempotentWork, idempotency } from "../../src/interceptors/idempotency.js";
import { pageTokens } from "../../src/interceptors/page-tokens.js";
import { problems } from "../../src/interceptors/problems.js";
import { redaction } from "../../src/interceptors/redaction.js";
import type { Stage } from "../../src/interceptors/stage.js";
import { validation } from "../../src/interceptors/validation/validation.js";
import { describeTreeService } from "./described-service.js";
import { callWith, interceptorOf, refusal, requestOf } from "./run-interceptor.js";
import { listed, openStream, received, streamRequestOf, watchEvents } from "./run-stream.js";

const paceRejection = createRejectionPacing({ pause: async () => undefined });
const message = create(watchEvents.output, { cursor: "1" });

describe("an open stream", () => {
  test("holds its permit until it ends", async () => {
    const { limiter, isReleased } = onePermit();
    const messages = await openStream(streamLimit(limiter), streamRequestOf(), () => listed([message]));
    expect(isReleased()).toBe(false);
    expect(await received(messages)).toEqual([message]);
    expect(isReleased()).toBe(true);
  });

  test("holds no permit if it cannot be opened", async () => {
    const { limiter, isReleased } = onePermit();
    const thrown = new CupoError("RESOURCE_NOT_FOUND");
    const opening = openStream(streamLimit(limiter), streamRequestOf(), () => Promise.reject(thrown));
    expect(await refusal(opening)).toBe(thrown);
    expect(isReleased()).toBe(true);
  });

  test.each([
    ["PRINCIPAL", "streams"],
    ["TENANT", "tenant_streams"],
  ] as const)("is rejected by the limit of streams: %s", async (rejection, limit) => {
    const full = { acquire: async () => rejection, rejectionFor: () => rejection };
    const error = await refusal(openStream(streamLimit(full), streamRequestOf(), () => listed([])));
    expect(error.limit).toBe(limit);
  });

  test("shows the fields that its caller's scopes allow", async () => {
    const { watch } = describeTreeService();
    const tree = { plain: "p", secret: "s", child: { secret: "s" } };
    const shown = async (...scopes: string[]) => {
      const call = callWith({ principal: { scopes: new Set(scopes) } });
      const request = streamRequestOf({ method: watch, call });
      const messages = await openStream(redaction(), request, () => listed([fromJson(watch.output, tree)]));
      return (await received(messages)).map((each) => toJson(watch.output, each));
    };
    expect(await shown()).toEqual([{ plain: "p", child: {} }]);
    expect(await shown("secret:read", "secrets:read")).toEqual([tree]);
  });

  test("that fails is reported, and its caller gets the Problem", async () => {
    const observed: unknown[] = [];
    const stage = problems("https://api.example.org/problems", (error) => observed.push(error));
    const thrown = new CupoError("RESOURCE_NOT_FOUND");
    const call = callWith();
    const messages = await openStream(stage, streamRequestOf({ call }), async function* () {
      yield message;
      throw thrown;
    });
    const error: unknown = await received(messages).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectError);
    expect(observed).toEqual([thrown]);
    expect(error).toMatchObject({ code: call.rpcCode });
  });

  test("is not opened by an invalid request", async () => {
    const stage = validation(
      () => () => [{ code: "REQUIRED", field: "cursor", message: "missing" }],
      (_, errors) => errors,
    );
    const opened: unknown[] = [];
    const opening = openStream(stage, streamRequestOf(), (request) => {
      opened.push(request);
      return listed([message]);
    });
    expect((await refusal(opening)).code).toBe("VALIDATION_FAILED");
    expect(opened).toEqual([]);
  });
});

describe("an operation with one request and one response", () => {
  const { registerPatient } = PatientService.method;
  const { listPatients } = PatientDirectoryService.method;
  const store: IdempotentWork = {
    read: (_call, _principal, work) => work(),
    async execute(_claim, _call, _principal, work) {
      await work();
      return { kind: "EXECUTED" };
    },
  };
  const pages = pageTokens({ seal: async (position) => position, open: async (token) => token });

  test.each<[string, Stage, DescMethodUnary]>([
    ["with an idempotency key", idempotency(store, async () => undefined), registerPatient],
    ["with pages", pages, listPatients],
  ])("takes no stream, and is answered by none: %s", async (_, stage, method) => {
    const request = requestOf(method, {});
    const answered = interceptorOf(stage, method)(async () => ({ stream: true }) as never);
    await expect(answered({ ...request, stream: true } as never)).rejects.toThrow("called by a stream");
    await expect(answered(request)).rejects.toThrow("answered by a stream");
  });
});

function streamLimit(streams: ConcurrencyLimiter): Stage {
  const unused = () => Promise.reject(new Error("a stream takes no permit of a call"));
  return concurrencyLimit({ acquire: unused, rejectionFor: () => undefined }, streams, paceRejection);
}

function onePermit() {
  let released = 0;
  const limiter: ConcurrencyLimiter = {
    acquire: async () => () => {
      released += 1;
    },
    rejectionFor: () => undefined,
  };
  return { limiter, isReleased: () => released === 1 };
}
