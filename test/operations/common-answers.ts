import { generateKeyPairSync, randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { expectCommonHeaders, expectProblem } from "../support/problem.js";
import type { RequestChanges } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";

/** An operation under test, and how to make requests that it accepts. */
export interface OperationUnderTest {
  readonly method: string;
  /** The scope that the operation requires. */
  readonly scope: string;
  readonly successStatus: number;
  /** Returns the path and body of a new request that succeeds once. */
  prepare(service: TestService): Promise<{ readonly path: string; readonly body: object }>;
}

/** Sends a valid request with changes. */
type Send = (changes?: RequestChanges) => ReturnType<TestService["request"]>;

/**
 * `send` sends a new successful request each time. `sendRefused` sends the same one each time, which must be rejected.
 */
interface Senders {
  readonly send: Send;
  readonly sendRefused: Send;
}

/**
 * Describes what all operations have in common: the headers of a success, and the statuses 400, 401, 403 and 429
 * (specification sections 4, 5, 7 and 8). `serviceOf` is called within tests.
 */
export function describeCommonAnswers(operation: OperationUnderTest, serviceOf: () => TestService): void {
  const sendDraft = async (draft: ReturnType<OperationUnderTest["prepare"]>, changes: RequestChanges = {}) => {
    const { path, body } = await draft;
    return serviceOf().request(operation.method, path, { body, ...changes });
  };
  let unused: ReturnType<OperationUnderTest["prepare"]> | undefined;
  const senders: Senders = {
    send: (changes) => sendDraft(operation.prepare(serviceOf()), changes),
    sendRefused: (changes) => sendDraft((unused ??= operation.prepare(serviceOf())), changes),
  };
  describe("every answer", () => describeHeaders(operation, senders));
  describe("400", () => describeInvalidRequests(senders));
  describe("401", () => describeInvalidTokens(senders, serviceOf));
  describe("403", () => describeMissingScope(operation, senders, serviceOf));
  describe("429", () => describeRateLimit(operation));
}

function describeHeaders({ successStatus }: OperationUnderTest, { send, sendRefused }: Senders): void {
  test("is JSON with no-store, a generated correlation id and the state of the quotas", async () => {
    const answer = await send();
    expect(answer.status).toBe(successStatus);
    expectCommonHeaders(answer);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("ratelimit-policy")).toMatch(/^"second";q=\d+;w=1, "minute";q=\d+;w=60$/);
    expect(answer.headers.get("ratelimit")).toMatch(/^"second";r=\d+;t=\d+, "minute";r=\d+;t=\d+$/);
    expect(answer.headers.get("idempotent-replayed")).toBeNull();
  });

  test("echoes the caller's correlation id as sent, on successes and errors alike", async () => {
    const id = randomUUID().toUpperCase();
    const success = await send({ headers: { "x-correlation-id": id } });
    expect(success.headers.get("x-correlation-id")).toBe(id);
    const failure = await sendRefused({ headers: { "x-correlation-id": id }, body: {} });
    expectProblem(failure, 422);
    expect(failure.body["correlationId"]).toBe(id);
  });
}

function describeInvalidRequests({ send, sendRefused }: Senders): void {
  test.each<[string, Record<string, string | null>, string]>([
    ["no Idempotency-Key", { "idempotency-key": null }, "Idempotency-Key REQUIRED"],
    ["an empty Idempotency-Key", { "idempotency-key": "" }, "Idempotency-Key REQUIRED"],
    ["an Idempotency-Key of 256 characters", { "idempotency-key": "k".repeat(256) }, "Idempotency-Key TOO_LONG"],
    ["an Idempotency-Key with a space", { "idempotency-key": "a b" }, "Idempotency-Key INVALID_FORMAT"],
    ["an Idempotency-Key that is not ASCII", { "idempotency-key": "café" }, "Idempotency-Key INVALID_FORMAT"],
    ["an X-Correlation-Id that is not a UUID", { "x-correlation-id": "42" }, "X-Correlation-Id INVALID_UUID"],
  ])("rejects %s and names it", async (_, headers, item) => {
    expectProblem(await sendRefused({ headers }), 400, [item]);
  });

  test("accepts an Idempotency-Key of 255 visible characters", async () => {
    const key = randomUUID() + "!~".repeat(128).slice(0, 219);
    expect((await send({ headers: { "idempotency-key": key } })).status).toBeLessThan(300);
  });

  test("lists all invalid headers at once", async () => {
    const answer = await sendRefused({ headers: { "idempotency-key": null, "x-correlation-id": "42" } });
    expectProblem(answer, 400, ["X-Correlation-Id INVALID_UUID", "Idempotency-Key REQUIRED"]);
  });

  test("rejects a body that is not JSON or not declared as JSON", async () => {
    expectProblem(await sendRefused({ body: "{" }), 400);
    expectProblem(await sendRefused({ headers: { "content-type": "text/plain" } }), 400);
  });
}

function describeInvalidTokens({ sendRefused }: Senders, serviceOf: () => TestService): void {
  test.each<[string, string | null]>([
    ["no Authorization header", null],
    ["another scheme", "Basic dXNlcjpwYXNzd29yZA=="],
    ["a scheme without a token", "Bearer"],
    ["a malformed token", "Bearer abc.def.ghi"],
  ])("rejects %s", async (_, authorization) => {
    const answer = await sendRefused({ headers: { authorization } });
    expectProblem(answer, 401);
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer\b/);
  });

  test.each<[string, (service: TestService) => Promise<string>]>([
    ["that has expired", (service) => service.token({ expiresInSeconds: -300 })],
    ["for another audience", (service) => service.forgeToken({ aud: "https://elsewhere.example.org" })],
    ["of another issuer", (service) => service.forgeToken({ iss: "https://elsewhere.example.org" })],
    ["that is not an access token", (service) => service.forgeToken({}, { typ: "JWT" })],
    ["without a tenant", (service) => service.forgeToken({ tenant_id: undefined })],
    ["with an unknown signing key", (service) => service.forgeToken({}, { kid: "unknown" })],
    ["with an invalid signature", signedByStranger],
  ])("rejects a token %s, and says so in WWW-Authenticate (RFC 6750)", async (_, tokenOf) => {
    const answer = await sendRefused({ token: await tokenOf(serviceOf()) });
    expectProblem(answer, 401);
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer .*error="invalid_token"/);
  });
}

function describeMissingScope(
  { scope }: OperationUnderTest,
  { send, sendRefused }: Senders,
  serviceOf: () => TestService,
): void {
  test("rejects a token without the operation's scope and names the scope", async () => {
    const scopes = serviceOf().scopes.filter((other) => other !== scope);
    const answer = await sendRefused({ token: await serviceOf().token({ scopes }) });
    expectProblem(answer, 403);
    const challenge = answer.headers.get("www-authenticate");
    expect(challenge).toMatch(/^Bearer .*error="insufficient_scope"/);
    expect(challenge).toContain(`scope="${scope}"`);
  });

  test("accepts a token whose only scope is the operation's", async () => {
    expect((await send({ token: await serviceOf().token({ scopes: [scope] }) })).status).toBeLessThan(300);
  });
}

function describeRateLimit({ method, prepare }: OperationUnderTest): void {
  test("rejects calls above a principal's quota until Retry-After has passed, and affects no other principal", async () => {
    const service = await startTestService({ RATE_LIMIT_PER_MINUTE: "2" });
    try {
      const refused = await prepare(service);
      const send = async (client: string, headers = {}, draft?: typeof refused) => {
        const { path, body } = draft ?? (await prepare(service));
        return service.request(method, path, { body, headers, token: await service.token({ client }) });
      };
      const unauthenticated = () => send("busy", { authorization: "Bearer bad" }, refused);
      await unauthenticated();
      for (const _ of [1, 2]) expect((await send("busy")).status).toBeLessThan(300);
      const answer = await send("busy", {}, refused);
      expectProblem(answer, 429);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      expect(Number(answer.headers.get("retry-after"))).toBeLessThanOrEqual(60);
      expect(answer.headers.get("ratelimit-policy")).toContain('"minute";q=2;w=60');
      expect(answer.headers.get("ratelimit")).toContain('"minute";r=0;');
      expectProblem(await unauthenticated(), 401);
      expect((await send("idle")).status).toBeLessThan(300);
    } finally {
      await service.close();
    }
  });
}

async function signedByStranger(service: TestService): Promise<string> {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const [header = "", payload = ""] = (await service.token()).split(".");
  return new SignJWT(decode(payload)).setProtectedHeader({ alg: "ES256", ...decode(header) }).sign(privateKey);
}

function decode(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, "base64url").toString());
}
