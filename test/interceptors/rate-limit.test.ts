import { expect, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { type QuotaState, type RateLimiter, rateLimit } from "../../src/interceptors/rate-limit.js";
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

test("tells the quotas and what is left of them", async () => {
  const { call, passed } = await limit([second, minute]);
  expect(passed).toHaveLength(1);
  expect(call.responseHeaders).toEqual({
    "RateLimit-Policy": '"second";q=50;w=1, "minute";q=600;w=60',
    RateLimit: '"second";r=49;t=1, "minute";r=12;t=37',
  });
});

test("counts a principal of a tenant, and once for a request", async () => {
  const counted: string[] = [];
  const limiter: RateLimiter = {
    count: async (principal) => {
      counted.push(principal);
      return [second];
    },
  };
  const call = callWith({ principal: { id: "issuer client" } });
  await run(rateLimit(limiter), requestOf(PatientService.method.registerPatient, {}, call));
  expect(counted).toEqual([`${tenantId} issuer client`]);
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
])("refuses with 429 until every exceeded quota is there again: $detail", async ({ states, retryAfter, detail }) => {
  const call = callWith();
  const error = await refusal(limit(states, call));
  expect(error.code).toBe("RATE_LIMIT_EXCEEDED");
  expect(error.detail).toBe(detail);
  expect(error.headers).toEqual({ "Retry-After": retryAfter });
  expect(Object.keys(call.responseHeaders)).toEqual(["RateLimit-Policy", "RateLimit"]);
});

function limit(states: readonly QuotaState[], call = callWith()) {
  return run(
    rateLimit({ count: () => Promise.resolve(states) }),
    requestOf(PatientService.method.registerPatient, {}, call),
  );
}
