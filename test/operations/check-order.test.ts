import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectProblem } from "../support/problem.js";
import { registerPatient, registration } from "../support/registration.js";
import { startTestService, type TestService } from "../support/service.js";

/** A request before it is sent. Each fault changes another part of it. */
interface Draft {
  method: string;
  path: string;
  query: string;
  readonly client: string;
  readonly key: string;
  scopes: readonly string[];
  expiresInSeconds: number;
  correlationId: string;
  body: object;
  /** Sends another successful request of the same operation with the same principal and key. */
  useKey(): Promise<void>;
}

/** One defect of a request, and the answer to it if there is no earlier one. */
interface Fault {
  readonly name: string;
  readonly status: number;
  readonly item?: string;
  inflict(draft: Draft): Promise<void> | void;
}

const QUOTA = 2;
const NAME_AND_PHONE = { fullName: "Ana Pérez", phone: "601 555 0100" };

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ RATE_LIMIT_PER_MINUTE: String(QUOTA) });
});

afterAll(() => service.close());

const beforeTheBody: readonly Fault[] = [
  fault("an unsupported method", 405, undefined, (draft) => {
    draft.method = "DELETE";
  }),
  fault("an expired token", 401, undefined, (draft) => {
    draft.expiresInSeconds = -300;
  }),
  fault("an exhausted quota", 429, undefined, async ({ client }) => {
    const token = await service.token({ client });
    for (let i = 0; i < QUOTA; i++) await service.request("POST", "/patients", { token, body: {} });
  }),
  fault("a missing scope", 403, undefined, (draft) => {
    draft.scopes = [];
  }),
  fault("a bad header", 400, "X-Correlation-Id INVALID_UUID", (draft) => {
    draft.correlationId = "42";
  }),
  fault("a query parameter", 400, undefined, (draft) => {
    draft.query = "?dryRun=true";
  }),
];

const ofTheBody: readonly Fault[] = [
  fault("an invalid body", 422, "unknown UNKNOWN_FIELD", (draft) => {
    draft.body = { ...draft.body, unknown: 1 };
  }),
  fault("a key used with another request", 409, "Idempotency-Key IDEMPOTENCY_KEY_REUSED", (draft) => draft.useKey()),
];

const ofRegistrations: readonly Fault[] = [
  fault("a consent in the future", 422, "consentGrantedAt OUT_OF_RANGE", (draft) => {
    draft.body = { ...draft.body, consentGrantedAt: new Date(service.now() + 3_600_000).toISOString() };
  }),
  fault("a duplicate", 409, "documentNumber DUPLICATE", async (draft) => {
    const { documentType, documentNumber } = await registerPatient(service);
    draft.body = { ...draft.body, documentType, documentNumber };
  }),
];

const ofUpdates: readonly Fault[] = [
  fault("an unknown patient", 404, undefined, (draft) => {
    draft.path = `/patients/${randomUUID()}`;
  }),
  fault("a stale version", 409, "expectedVersion STALE_VERSION", (draft) => {
    draft.body = { ...draft.body, expectedVersion: 99 };
  }),
];

describe.each([
  ["registering", draftRegistration, [...beforeTheBody, ...ofTheBody, ...ofRegistrations]],
  ["updating", draftUpdate, [...beforeTheBody, ...ofTheBody, ...ofUpdates]],
])("when %s a patient", (_, makeDraft, faults) => {
  test("a request without a fault succeeds", async () => {
    expect((await send(await makeDraft())).status).toBeLessThan(300);
  });

  test.each(pairsOf(faults))("$earlier.name is reported before $later.name", async ({ earlier, later }) => {
    const draft = await makeDraft();
    await later.inflict(draft);
    await earlier.inflict(draft);
    expectProblem(await send(draft), earlier.status, earlier.item === undefined ? undefined : [earlier.item]);
  });
});

function fault(name: string, status: number, item: string | undefined, inflict: Fault["inflict"]): Fault {
  return { name, status, ...(item === undefined ? {} : { item }), inflict };
}

/** Returns each fault paired with each later one, and the last one with itself. */
function pairsOf(faults: readonly Fault[]): { earlier: Fault; later: Fault }[] {
  const pairs = faults.flatMap((earlier, i) => faults.slice(i + 1).map((later) => ({ earlier, later })));
  return [...pairs, ...faults.slice(-1).map((last) => ({ earlier: last, later: last }))];
}

async function draftRegistration(): Promise<Draft> {
  return draftOf("POST", "/patients", registration(), async () => ({ path: "/patients", body: registration() }));
}

async function draftUpdate(): Promise<Draft> {
  const prepare = async () => ({
    path: `/patients/${(await registerPatient(service)).id}`,
    body: { ...NAME_AND_PHONE, expectedVersion: 1 },
  });
  const { path, body } = await prepare();
  return draftOf("PATCH", path, body, prepare);
}

function draftOf(
  method: string,
  path: string,
  body: object,
  prepare: () => Promise<{ path: string; body: object }>,
): Draft {
  const [client, key] = [randomUUID(), randomUUID()];
  return {
    method,
    path,
    body,
    client,
    key,
    query: "",
    scopes: service.scopes,
    expiresInSeconds: 3_600,
    correlationId: randomUUID(),
    async useKey() {
      const other = await prepare();
      const headers = { "idempotency-key": key };
      const token = await service.token({ client });
      const answer = await service.request(method, other.path, { token, headers, body: other.body });
      expect(answer.status).toBeLessThan(300);
    },
  };
}

async function send({ method, path, query, client, key, scopes, expiresInSeconds, correlationId, body }: Draft) {
  const token = await service.token({ client, scopes, expiresInSeconds });
  const headers = { "idempotency-key": key, "x-correlation-id": correlationId };
  return service.request(method, `${path}${query}`, { token, headers, body });
}
