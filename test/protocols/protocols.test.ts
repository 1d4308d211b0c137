import { randomUUID } from "node:crypto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PatientBody, type Registration, registerPatient, registration } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { type PatientRpc, patientRpc, type RpcOutcome, transports } from "../support/rpc-clients.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";

const CONTACT = { fullName: "Ana Pérez de López", phone: "601 555 0199" };
const CHANGES = { ...CONTACT, expectedVersion: 1 };

let service: TestService;

beforeAll(async () => {
  service = await startTestService({}, { isProxied: true });
});

afterAll(() => service.close());

describe.each(Object.entries(transports))("%s", (_, createTransport) => {
  let rpc: PatientRpc;

  beforeAll(() => {
    rpc = patientRpc(createTransport(service.internalUrl));
  });

  test("registers and updates a patient as REST does", async () => {
    const body = registration();
    const { consentGrantedAt: _consent, ...sent } = body;
    const registered = await rpc.register(messageOf(body), await headersFor());
    expect(registered.body).toEqual({ ...sent, id: expect.any(String), status: "ACTIVE", version: 1 });
    const { id: patientId } = registered.body as PatientBody;
    const updated = await rpc.update({ patientId, ...CHANGES }, await headersFor());
    expect(updated.body).toEqual({ ...(registered.body as PatientBody), ...CONTACT, version: 2 });
  });

  test("returns the caller's correlation id and the state of the quotas", async () => {
    const headers = { ...(await headersFor()), "x-correlation-id": randomUUID() };
    const { headers: received } = await rpc.register(messageOf(registration()), headers);
    expect(received.get("x-correlation-id")).toBe(headers["x-correlation-id"]);
    expect(received.get("ratelimit")).toMatch(/^"second";r=\d+;t=\d+, "minute";r=\d+;t=\d+$/);
  });

  test("returns the document number only to a token with the scope for it", async () => {
    const { body } = await rpc.register(messageOf(registration()), await headersFor({ scopes: ["patients:write"] }));
    expect(body).toMatchObject({ version: 1 });
    expect(body).not.toHaveProperty("documentNumber");
  });

  test("replays calls that were made over REST, and the reverse", async () => {
    const [first, second] = [registration(), registration()];
    const headers = await headersFor();
    const overRest = await rest("POST", "/patients", first, headers);
    expectReplay(await rpc.register(messageOf(first), headers), overRest.body);
    const other = await headersFor();
    const overRpc = await rpc.register(messageOf(second), other);
    expectReplay(await rest("POST", "/patients", second, other), overRpc.body);
  });

  test("replays an update with its mask in any order, or without one if it has all set fields", async () => {
    const { id } = await registerPatient(service);
    const headers = await headersFor();
    const overRest = await rest("PATCH", `/patients/${id}`, CHANGES, headers);
    expect(overRest.status).toBe(200);
    for (const paths of [["full_name", "phone"], ["phone", "full_name", "phone"], undefined]) {
      const mask = paths === undefined ? {} : { updateMask: { paths } };
      expectReplay(await rpc.update({ patientId: id, ...CHANGES, ...mask }, headers), overRest.body);
    }
    const email = { email: "a@b.co", updateMask: { paths: ["email", "full_name", "phone"] } };
    expect((await rpc.update({ patientId: id, ...CHANGES, ...email }, headers)).code).toBe(Code.FailedPrecondition);
  });

  describe("errors have the code of their Problem, which is in the details and equals that of REST", () => {
    test.each<[number, Code, (headers: Record<string, string>) => Promise<Pair> | Pair]>([
      [400, Code.InvalidArgument, ({ "idempotency-key": _key, ...headers }) => registerBoth(registration(), headers)],
      [401, Code.Unauthenticated, ({ authorization: _token, ...headers }) => registerBoth(registration(), headers)],
      [
        403,
        Code.PermissionDenied,
        async (headers) => registerBoth(registration(), { ...headers, ...(await powerless()) }),
      ],
      [404, Code.NotFound, (headers) => updateBoth(randomUUID(), CHANGES, headers)],
      [409, Code.AlreadyExists, async (headers) => registerBoth(registration(await documentInUse()), headers)],
      [409, Code.Aborted, async (headers) => updateBoth(await patientAtVersion(2), CHANGES, headers)],
      [422, Code.InvalidArgument, (headers) => registerBoth(registration({ fullName: " ", email: "ana" }), headers)],
    ])("%i, with code %i", async (status, code, send) => {
      const [overRest, overRpc] = await send({ ...(await headersFor()), "x-correlation-id": randomUUID() });
      expectSameProblem(overRest, overRpc, status, code);
    });

    test("429", async () => {
      const limited = await startTestService({ RATE_LIMIT_PER_MINUTE: "1" });
      try {
        const headers = { authorization: `Bearer ${await limited.token()}`, "x-correlation-id": randomUUID() };
        await limited.request("POST", "/patients", { headers, body: {} });
        const overRest = await limited.request("POST", "/patients", { headers, body: {} });
        const overRpc = await patientRpc(createTransport(limited.internalUrl)).register({}, headers);
        expectSameProblem(overRest, overRpc, 429, Code.ResourceExhausted);
        expect(Number(overRpc.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      } finally {
        await limited.close();
      }
    });

    test("503", async () => {
      const headers = { ...(await headersFor()), "x-correlation-id": randomUUID() };
      service.proxy.setDown(true);
      const [overRest, overRpc] = await registerBoth(registration(), headers);
      service.proxy.setDown(false);
      expectSameProblem(overRest, overRpc, 503, Code.Unavailable);
      expect(Number(overRpc.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    });
  });

  describe("errors have the standard details of gRPC", () => {
    test("ErrorInfo: the reason of a conflict, and its field", async () => {
      const request = { patientId: await patientAtVersion(2), ...CHANGES };
      const { details } = await rpc.update(request, await headersFor());
      const metadata = { code: "CONCURRENT_MODIFICATION", status: "409", field: "expectedVersion" };
      expect(details).toEqual({ "google.rpc.ErrorInfo": { reason: "STALE_VERSION", domain: "cupo", metadata } });
    });

    test("BadRequest: each invalid field, with its error code", async () => {
      const { details } = await rpc.register(messageOf(registration({ email: "ana", phone: "1" })), await headersFor());
      const metadata = { code: "VALIDATION_FAILED", status: "422" };
      expect(details).toEqual({
        "google.rpc.ErrorInfo": { reason: "VALIDATION_FAILED", domain: "cupo", metadata },
        "google.rpc.BadRequest": {
          fieldViolations: [
            { field: "phone", reason: "INVALID_FORMAT", description: expect.any(String) },
            { field: "email", reason: "INVALID_EMAIL", description: expect.any(String) },
          ],
        },
      });
    });

    test("RetryInfo: when to try again", async () => {
      service.proxy.setDown(true);
      const { details, headers } = await rpc.register(messageOf(registration()), await headersFor());
      service.proxy.setDown(false);
      const metadata = { code: "SERVICE_UNAVAILABLE", status: "503" };
      expect(details).toEqual({
        "google.rpc.ErrorInfo": { reason: "SERVICE_UNAVAILABLE", domain: "cupo", metadata },
        "google.rpc.RetryInfo": { retryDelay: `${headers.get("retry-after")}s` },
      });
    });
  });

  type Pair = readonly [RestAnswer, RpcOutcome];

  async function registerBoth(body: Registration, headers: Record<string, string>): Promise<Pair> {
    return [await rest("POST", "/patients", body, headers), await rpc.register(messageOf(body), headers)];
  }

  async function updateBoth(id: string, body: typeof CHANGES, headers: Record<string, string>): Promise<Pair> {
    return [
      await rest("PATCH", `/patients/${id}`, body, headers),
      await rpc.update({ patientId: id, ...body }, headers),
    ];
  }
});

function messageOf({ consentGrantedAt, ...texts }: Registration) {
  return { ...texts, consentGrantedAt: timestampFromDate(new Date(consentGrantedAt)) };
}

async function headersFor(claims: TokenFor = {}): Promise<Record<string, string>> {
  return { authorization: `Bearer ${await service.token(claims)}`, "idempotency-key": randomUUID() };
}

async function powerless(): Promise<{ authorization: string }> {
  return { authorization: `Bearer ${await service.token({ scopes: [] })}` };
}

async function documentInUse(): Promise<Pick<Registration, "documentType" | "documentNumber">> {
  const { documentType, documentNumber = "" } = await registerPatient(service);
  return { documentType, documentNumber };
}

async function patientAtVersion(version: number): Promise<string> {
  const { id } = await registerPatient(service);
  for (let expectedVersion = 1; expectedVersion < version; expectedVersion++) {
    await rest("PATCH", `/patients/${id}`, { ...CHANGES, expectedVersion }, await headersFor());
  }
  return id;
}

function rest(method: string, path: string, body: object, headers: Record<string, string>): Promise<RestAnswer> {
  const none = { authorization: null, "idempotency-key": null };
  return service.request(method, path, { body, headers: { ...none, ...headers } });
}

function expectReplay({ headers, body }: Pick<RpcOutcome, "headers" | "body">, first: unknown): void {
  expect(body).toEqual(first);
  expect(headers.get("idempotent-replayed")).toBe("true");
}

function expectSameProblem(overRest: RestAnswer, overRpc: RpcOutcome, status: number, code: Code): void {
  expect(overRest.status).toBe(status);
  expect(overRpc.code).toBe(code);
  expect(overRpc.body).toEqual(overRest.body);
  expect(overRpc.headers.get("www-authenticate")).toBe(overRest.headers.get("www-authenticate"));
  expect(overRpc.headers.get("x-correlation-id")).toBe(overRest.headers.get("x-correlation-id"));
}
