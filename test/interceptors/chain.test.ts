import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Interceptor, UnaryRequest, UnaryResponse } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { callOf } from "../../src/call.js";
import { CupoError } from "../../src/errors.js";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { type Chain, createChain } from "../../src/interceptors/chain.js";
import { createRejectionPacing } from "../../src/interceptors/concurrency/rejection-pacing.js";
import { interceptorsFor, stageNames } from "../../src/interceptors/stage.js";
import { callWith, principalWith, refusal, requestOf, responseOf } from "./run-interceptor.js";

const { registerPatient } = PatientService.method;

interface Faults {
  readonly token?: boolean;
  readonly rate?: boolean;
  readonly load?: boolean;
  readonly scope?: boolean;
  readonly header?: boolean;
  readonly message?: boolean;
  readonly permit?: boolean;
}

/** The interceptors that can reject, in order. Each one is reached only if none before it rejects. */
const stages: readonly (readonly [keyof Faults, string])[] = [
  ["token", "INVALID_ACCESS_TOKEN"],
  ["rate", "RATE_LIMIT_EXCEEDED"],
  ["load", "SERVICE_UNAVAILABLE"],
  ["scope", "INSUFFICIENT_SCOPE"],
  ["header", "INVALID_REQUEST"],
  ["message", "VALIDATION_FAILED"],
  ["permit", "RATE_LIMIT_EXCEEDED"],
];

test.each(stages.map(([, code], index) => ({ code, faults: stages.slice(index).map(([fault]) => fault) })))(
  "answers $code if all of these fail: $faults",
  async ({ code, faults }) => {
    const { reached, outcome } = through(Object.fromEntries(faults.map((fault) => [fault, true])));
    expect((await refusal(outcome)).code).toBe(code);
    expect(reached).toEqual([]);
  },
);

test("needs no message for the interceptors that check headers", async () => {
  const [onHeaders] = chainWith({ header: true });
  const { contextValues } = requestOf(registerPatient, {}, callWith({ headers: { idempotencyKey: [] } }));
  const request = { ...requestOf(registerPatient, {}), contextValues, message: undefined };
  const error = await refusal(apply(onHeaders, request as unknown as UnaryRequest).outcome);
  expect(error.code).toBe("INVALID_REQUEST");
});

test("adds the headers of the call to a replay, and redacts it by the scopes of the new request", async () => {
  const response = await through({}).outcome;
  expect(response.message).toEqual(create(registerPatient.output, { patient: { id: "first" } }));
  expect([...response.header.keys()]).toEqual(["idempotent-replayed", "ratelimit", "ratelimit-policy"]);
});

test("records no durations unless it is asked to", () => {
  const { onHeaders, onMessage } = chainOf({});
  const names = [...stageNames(onHeaders, registerPatient), ...stageNames(onMessage, registerPatient)];
  expect(names).not.toContain("trace of the message");
});

/** Sends a request with a known key through the whole chain. */
function through(faults: Faults) {
  const headers = { authorization: ["Bearer a"], idempotencyKey: faults.header ? [] : ["k"] };
  return apply(chainWith(faults).flat(), requestOf(registerPatient, {}, callWith({ headers })));
}

function apply(interceptors: readonly Interceptor[], request: UnaryRequest) {
  const reached: string[] = [];
  const last = async (): Promise<UnaryResponse> => {
    reached.push("service");
    const { storedResponse } = callOf(request.contextValues);
    return responseOf(request, fromBinary(registerPatient.output, storedResponse ?? new Uint8Array()));
  };
  const run = interceptors.reduceRight<ReturnType<Interceptor>>((next, interceptor) => interceptor(next), last);
  const outcome = run(request).then((response) => {
    if (response.stream) throw new Error("not unary");
    return response;
  });
  return { reached, outcome };
}

function chainWith(faults: Faults): [readonly Interceptor[], readonly Interceptor[]] {
  const { onHeaders, onMessage } = chainOf(faults);
  return [interceptorsFor(onHeaders)(registerPatient), interceptorsFor(onMessage)(registerPatient)];
}

function chainOf(faults: Faults): Chain {
  const scopes = new Set(faults.scope ? [] : ["patients:write"]);
  const state = { name: "minute", quota: 1, windowSeconds: 60, remaining: 0, resetSeconds: 1 };
  const first = create(registerPatient.output, { patient: { id: "first", documentNumber: "1" } });
  return createChain({
    verifyToken: () =>
      faults.token ? Promise.reject(new CupoError("INVALID_ACCESS_TOKEN")) : Promise.resolve(principalWith({ scopes })),
    rateLimiter: { count: () => Promise.resolve([{ ...state, exceeded: faults.rate ?? false }]) },
    validate: () => () => (faults.message ? [{ code: "REQUIRED", field: "phone", message: "missing" }] : []),
    listErrors: (_, errors) => errors,
    calls: {
      acquire: async () => (faults.permit ? "PRINCIPAL" : () => undefined),
      rejectionFor: () => (faults.load ? "PROCESS" : undefined),
    },
    streams: { acquire: async () => "PRINCIPAL", rejectionFor: () => undefined },
    paceRejection: createRejectionPacing({ pause: async () => undefined }),
    stopping: new AbortController().signal,
    store: {
      read: (_call, _principal, work) => work(),
      execute: () =>
        Promise.resolve({ kind: "REPLAY", response: toBinary(registerPatient.output, first), isOwn: false }),
    },
    recordAccess: async () => undefined,
    resultSeal: { seal: (result) => result, open: async (sealed) => sealed },
    pages: { seal: (position) => Promise.resolve(position), open: (token) => Promise.resolve(token) },
  });
}
