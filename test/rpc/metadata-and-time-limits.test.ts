import { Code, ConnectError, createClient, createContextValues, type HandlerContext } from "@connectrpc/connect";
import { beforeEach, describe, expect, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { createRpcHandler } from "../../src/rpc/handler.js";
import { readTimeLimit } from "../../src/rpc/time-limit.js";
import { startListener } from "../http/start-listener.js";
import { transports } from "../support/rpc-clients.js";

type Calls = ReturnType<typeof callsOver>;

/** The implementation of all calls, which each test sets. */
let work: (context: HandlerContext) => unknown;

const implementations = [
  {
    service: PatientService,
    implementation: {
      registerPatient: async (_: unknown, context: HandlerContext) => {
        await work(context);
        return {};
      },
    },
  },
  {
    service: EventService,
    implementation: {
      async *watchEvents(_: unknown, context: HandlerContext) {
        await work(context);
        yield {};
      },
    },
  },
];

describe.each(Object.entries(transports))("over %s", (name, createTransport) => {
  const timeLimit = (ms: number) => (name.startsWith("Connect") ? { "connect-timeout-ms": `${ms}` } : grpcLimit(ms));
  let calls: Calls;

  beforeEach(async () => {
    const handler = createRpcHandler({
      services: implementations,
      translateErrors: () => (next) => next,
      headerInterceptors: () => [],
      interceptors: () => [],
      openValues: () => createContextValues(),
      validate: () => () => [],
      refuse: () => () => new Error("refused"),
      maxItems: () => 100,
      maxBodyBytes: 1_000,
      maxDepth: 16,
      maxTimeLimitMs: 60_000,
      maxStreamMs: 60_000,
    });
    const listener = await startListener({ handler: (request, response) => void handler(request, response) });
    calls = callsOver(createTransport(listener.url));
  });

  describe.each(["unary", "stream"] as const)("a call answered by a %s", (kind) => {
    test("has the headers and trailers that its implementation sets", async () => {
      work = setMetadata;
      const { header, trailer, error } = await calls[kind]({});
      expect(error).toBeUndefined();
      expect([header.get("x-header"), trailer.get("x-trailer")]).toEqual(["set", "set"]);
    });

    test("has them in an error too, with those of the error itself", async () => {
      work = (context) => {
        setMetadata(context);
        throw new ConnectError("no", Code.Aborted, { "x-own": "own" });
      };
      const { header, error } = await calls[kind]({});
      expect(error?.code).toBe(Code.Aborted);
      expect(header.get("x-header") ?? error?.metadata.get("x-header")).toBe("set");
      expect(["x-trailer", "x-own"].map((each) => error?.metadata.get(each))).toEqual(["set", "own"]);
    });

    test("knows its caller's deadline", async () => {
      const told: (number | undefined)[] = [];
      work = (context) => void told.push(context.timeoutMs());
      await calls[kind](timeLimit(50_000));
      await calls[kind]({});
      expect(told).toEqual([expect.any(Number), undefined]);
      expect(told[0]).toBeGreaterThan(0);
      expect(told[0]).toBeLessThanOrEqual(50_000);
    });

    test("is refused before it begins if its time limit is not valid", async () => {
      let begun = 0;
      work = () => void (begun += 1);
      const header = Object.keys(timeLimit(1))[0] ?? "";
      for (const limit of ["soon", "-1", "1.5"]) {
        expect((await calls[kind]({ [header]: limit })).error).toBeInstanceOf(ConnectError);
      }
      expect(begun).toBe(0);
      expect((await calls[kind](timeLimit(50_000))).error).toBeUndefined();
    });

    test("is deadline_exceeded if its implementation ends when its signal aborts", async () => {
      work = async (context) => {
        await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
        context.signal.throwIfAborted();
      };
      expect((await calls[kind](timeLimit(50))).error?.code).toBe(Code.DeadlineExceeded);
    });
  });

  test("a unary call is deadline_exceeded at its deadline, even if its implementation does not end", async () => {
    work = () => new Promise(() => undefined);
    expect((await calls.unary(timeLimit(50))).error?.code).toBe(Code.DeadlineExceeded);
  });
});

test.each([
  ["connect", "Connect-Timeout-Ms", "250", 250],
  ["grpc", "Grpc-Timeout", "250m", 250],
  ["grpc", "Grpc-Timeout", "1u", 1],
  ["grpc-web", "Grpc-Timeout", "2S", 1_000],
] as const)("over %s, %s: %s is a limit of %i ms where there are 1,000 at most", (protocol, name, value, expected) => {
  expect(readTimeLimit(new Headers({ [name]: value }), protocol, 1_000)).toBe(expected);
});

function setMetadata({ responseHeader, responseTrailer }: HandlerContext): void {
  responseHeader.set("x-header", "set");
  responseTrailer.set("x-trailer", "set");
}

function grpcLimit(ms: number): Record<string, string> {
  return { "grpc-timeout": `${ms}m` };
}

/**
 * Returns calls that record their outcome. The deadline is sent as a header, so that the client does not enforce it.
 */
function callsOver(transport: ReturnType<(typeof transports)[keyof typeof transports]>) {
  const patients = createClient(PatientService, transport);
  const events = createClient(EventService, transport);
  const keep = async (call: (options: object) => Promise<unknown>, headers: Record<string, string>) => {
    let [header, trailer] = [new Headers(), new Headers()];
    const onHeader = (all: Headers) => void (header = all);
    const onTrailer = (all: Headers) => void (trailer = all);
    const error = await call({ headers, onHeader, onTrailer }).then(
      () => undefined,
      (thrown: unknown) => ConnectError.from(thrown),
    );
    return { header, trailer, error };
  };
  return {
    unary: (headers: Record<string, string>) => keep((options) => patients.registerPatient({}, options), headers),
    stream: (headers: Record<string, string>) =>
      keep(async (options) => {
        for await (const _ of events.watchEvents({}, options)) continue;
      }, headers),
  };
}
