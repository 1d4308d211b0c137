import type { UnaryRequest } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { ImportService } from "../../src/gen/cupo/clinic/v1/import_service_pb.js";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import {
  type QuotaPrincipal,
  type QuotaState,
  type RateLimiter,
  rateLimit,
  rowQuota,
} from "../../src/interceptors/rate-limit.js";
import { localQuotaStore } from "../../src/quotas/local-quota-store.js";
import { createRateLimiter } from "../../src/quotas/rate-limiter.js";
import { callWith, refusal, requestOf, run, tenantId } from "./run-interceptor.js";

const second: QuotaState = {
  name: "second",
  quota: 50,
  windowSeconds: 1,
  remaining: 49,
  resetSeconds: 1,
  exceeded: false,
};
const minute: QuotaState = {
  name: "minute",
  quota: 600,
  windowSeconds: 60,
  remaining: 12,
  resetSeconds: 37,
  exceeded: false,
};

test("sends the quotas and their remaining requests", async () => {
  const { call, passed } = await limit([second, minute]);
  expect(passed).toHaveLength(1);
  expect(call.responseHeaders).toEqual({
    "RateLimit-Policy": '"second";q=50;w=1, "minute";q=600;w=60',
    RateLimit: '"second";r=49;t=1, "minute";r=12;t=37',
  });
});

test("counts one request for the principal, and bulk operations apart", async () => {
  const counted: QuotaPrincipal[] = [];
  const limiter: RateLimiter = {
    count: async (principal) => {
      counted.push(principal);
      return [second];
    },
  };
  const call = callWith({ principal: { id: "issuer client" } });
  await run(rateLimit(limiter), requestOf(PatientService.method.registerPatient, {}, call));
  const { importResources } = ImportService.method;
  await run(rateLimit(limiter), requestOf(importResources, {}, call));
  expect(counted).toEqual([
    { tenantId, id: "issuer client" },
    { tenantId, id: "issuer client\nbulk" },
  ]);
});

test.each([
  {
    states: [second, { ...minute, remaining: 0, exceeded: true }],
    retryAfter: "37",
    detail: "More than 600 requests in 60 s.",
  },
  {
    states: [{ ...second, remaining: 0, exceeded: true }, minute],
    retryAfter: "1",
    detail: "More than 50 requests in 1 s.",
  },
  {
    states: [
      { ...second, remaining: 0, exceeded: true },
      { ...minute, remaining: 0, exceeded: true },
    ],
    retryAfter: "37",
    detail: "More than 50 requests in 1 s. More than 600 requests in 60 s.",
  },
])(
  "rejects with 429 until every exceeded quota is available again: $detail",
  async ({ states, retryAfter, detail }) => {
    const call = callWith();
    const error = await refusal(limit(states, call));
    expect(error.code).toBe("RATE_LIMIT_EXCEEDED");
    expect(error.detail).toBe(detail);
    expect(error.headers).toEqual({ "Retry-After": retryAfter });
    expect(Object.keys(call.responseHeaders)).toEqual(["RateLimit-Policy", "RateLimit"]);
  },
);

function limit(states: readonly QuotaState[], call = callWith()) {
  return run(
    rateLimit({ count: () => Promise.resolve(states) }),
    requestOf(PatientService.method.registerPatient, {}, call),
  );
}

describe("the requested rows", () => {
  const { listPatients, batchGetPatients } = PatientDirectoryService.method;
  const ids = (count: number) => ({ patientIds: Array.from({ length: count }, () => "an id") });

  test.each<[string, UnaryRequest, readonly number[]]>([
    ["a page of the usual size", requestOf(listPatients, {}), []],
    ["a page of fifty", requestOf(listPatients, { pageSize: 50 }), []],
    ["a page of fifty-one", requestOf(listPatients, { pageSize: 51 }), [1]],
    ["the largest page, however large it is asked for", requestOf(listPatients, { pageSize: 2_147_483_647 }), [3]],
    ["a batch of fifty", requestOf(batchGetPatients, ids(50)), []],
    ["a batch of two hundred", requestOf(batchGetPatients, ids(200)), [3]],
    ["an operation without a list", requestOf(PatientService.method.registerPatient, {}), []],
  ])("count as additional requests: %s", async (_, request, more) => {
    const counted: (number | undefined)[] = [];
    const count = async (_principal: QuotaPrincipal, requests?: number) => {
      counted.push(requests);
      return [second];
    };
    const { passed } = await run(rowQuota({ count }), request);
    expect(counted).toEqual(more);
    expect(passed).toEqual([request]);
  });

  test.each([1, 2, 3])("pass if quotas of %i requests are unused, and use them up", async (quota) => {
    const limiter = createRateLimiter(
      { perSecond: quota, perMinute: quota },
      { store: localQuotaStore, replicas: 1, elapsed: () => 0 },
    );
    const page = requestOf(listPatients, { pageSize: 200 }, callWith());
    await run(rateLimit(limiter), page);
    expect((await run(rowQuota(limiter), page)).passed).toEqual([page]);
    const error = await refusal(run(rateLimit(limiter), page));
    expect(error.code).toBe("RATE_LIMIT_EXCEEDED");
  });

  test("count for the principal", async () => {
    const counted: QuotaPrincipal[] = [];
    const count = async (principal: QuotaPrincipal) => (counted.push(principal), [second]);
    const call = callWith({ principal: { id: "issuer client" } });
    await run(rowQuota({ count }), requestOf(listPatients, { pageSize: 200 }, call));
    expect(counted).toEqual([{ tenantId, id: "issuer client" }]);
  });

  test("are rejected if they exceed the quota", async () => {
    const count = async () => [{ ...second, remaining: 0, exceeded: true }];
    const error = await refusal(run(rowQuota({ count }), requestOf(listPatients, { pageSize: 200 })));
    expect([error.code, error.headers]).toEqual(["RATE_LIMIT_EXCEEDED", { "Retry-After": "1" }]);
  });
});
