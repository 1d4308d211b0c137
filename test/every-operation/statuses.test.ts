import { randomUUID } from "node:crypto";
import type { DescMethod, DescMethodUnary, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withDocumentedIds } from "../../src/demo/documented-ids.js";
import { DEMO_TENANT_ID } from "../../src/demo/large-clinic.js";
import { requestExamples } from "../../src/openapi/examples/request-examples.js";
import { hasQuery, isPublished, operationName, operationOf, takesIdempotencyKey } from "../../src/operation.js";
import { servedServices } from "../../src/services/services.js";
import { asRest } from "../hostile/send-generated.js";
import { type ExampleCalls, exampleCalls, methodOf, sendOverRest, startDemoService } from "../openapi/example-calls.js";
import { expectInternalError, expectProblem, itemsOf } from "../support/problem.js";
import { type RpcFormat, rpcFormats, sendCall } from "../support/raw-rpc.js";
import type { RequestChanges, RestAnswer } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { withFault } from "./fault.js";
import { idPositions, put } from "./id-positions.js";

/** Streams, which have tests of their own: a row of this test is one request with one answer. */
const STREAMS = ["WatchEvents"];

/** More than the validity of an option token. */
const TOO_LATE_MS = 11 * 60_000;

/** Operations that use an option token, which admits only callers with the organization and company of its search. */
const OPTION_USES = new Set(["BookAppointment", "HoldAppointmentOption", "MoveAppointment"]);

/** A version that no resource has. */
const STALE = 2_000_000_000;

/** Where an invalid id does not reject the request: an import returns the errors of each row in its outcome. */
const IMPORTED_ROWS = "rows[";

/** Sends a request that provokes a status. */
type Cause = (method: DescMethod) => Promise<RestAnswer>;

const clinicMethods = servedServices
  .flatMap(({ service: { methods: all } }) => all)
  .filter((method) => !isPublished(method.parent));
const methods = clinicMethods.filter(({ methodKind }) => methodKind === "unary");

const causes: Readonly<Record<number, { readonly name: string; readonly provoke: Cause }>> = {
  400: { name: "what is no request", provoke: sendUnreadable },
  401: { name: "no token", provoke: (method) => send(method, { headers: { authorization: null } }) },
  403: { name: "every scope but its own", provoke: sendWithoutScope },
  404: { name: "a resource that does not exist", provoke: sendForMissing },
  409: { name: "another request under a used key", provoke: sendUnderUsedKey },
  410: { name: "an option whose time is over", provoke: sendTooLate },
  422: { name: "an unknown member", provoke: sendUnknownMember },
  429: { name: "a quota that is used up", provoke: sendTooOften },
  500: { name: "an unexpected failure", provoke: sendInFailure },
};

/** Statuses of one operation that other requests provoke, by name and status. */
const ownCauses: Readonly<Record<string, { readonly name: string; readonly provoke: Cause }>> = {
  "FindPatientByDocument 404": {
    name: "a document that no patient has",
    provoke: (method) => sendWith(method, { documentNumber: "1" }),
  },
  "ListEvents 409": { name: "a cursor of another tenant's feed", provoke: sendForeignCursor },
  "MatchWaitlistEntry 409": {
    name: "an entry that is closed",
    provoke: async (method) => {
      const { request } = await accepted(methodOf("CloseWaitlistEntry"));
      return sendWith(method, { waitlistEntryId: request["waitlistEntryId"] ?? "" });
    },
  },
  "SearchAppointmentOptions 409": {
    name: "an appointment that is cancelled",
    provoke: async (method) => {
      const { request } = await accepted(methodOf("CancelAppointment"));
      const { patientId: _, appointmentTypeId: __, ...search } = (await accepted(method)).request;
      const cancelled = { ...search, appointmentId: request["appointmentId"] ?? "" };
      return sendOverRest(service, method, cancelled, { token: await tokenOf() });
    },
  },
};

let service: TestService;
let limited: TestService;
let examples: ExampleCalls;
let isFailing = false;

beforeAll(async () => {
  service = await startDemoService(
    { PUBLIC_CLINIC_API: "all" },
    { served: (entry) => withFault(withDocumentedIds(entry), () => isFailing) },
  );
  limited = await startTestService({ PUBLIC_CLINIC_API: "all", RATE_LIMIT_PER_MINUTE: "1" });
  examples = exampleCalls(service, requestExamples(service.now()));
  await examples.call("MaterializeSchedule");
});

afterAll(() => Promise.all([service.close(), limited.close()]));

for (const method of methods) {
  const { scope, successStatus, errorStatuses } = operationOf(method);
  const callers = OPTION_USES.has(method.name) ? "the caller of the search" : "any organization and company";
  describe(method.name, () => {
    // First, because some examples change a resource that no later request can change.
    for (const { localName: field } of method.input.fields.filter(({ name }) => name.endsWith("expected_version")))
      test(`answers 409 for ${field} that is not the version of the resource`, async () => {
        const stale = { ...(await examples.request(method.name)), [field]: STALE };
        const answer = await sendOverRest(service, method, stale, { token: await tokenOf() });
        expectProblem(answer, 409, [`${field} STALE_VERSION`]);
      });

    test(`answers ${successStatus} to a token that has only its scope, of ${callers}`, async () => {
      const { answer } = await accepted(method);
      expect([answer.status, answer.text]).toEqual([successStatus, answer.text]);
    });

    if (takesIdempotencyKey(method))
      test("answers a repeated request with the first result", async () => {
        const { request, as, key, answer } = await accepted(method);
        const changes = { token: await tokenOf(as), headers: { "idempotency-key": key } };
        const again = await sendOverRest(service, method, request, changes);
        expect([again.status, again.text]).toEqual([answer.status, answer.text]);
        expect(again.headers.get("idempotent-replayed")).toBe("true");
      });

    for (const place of idPositions(method.input)) {
      if (place.startsWith(IMPORTED_ROWS)) continue;
      test(`answers 422 for ${place} that is not a UUID`, async () => {
        const { request } = await accepted(method);
        const answer = await sendOverConnect(method, put(request, place, "42"));
        expectProblem(answer, 422);
        expect(itemsOf(answer)).toContain(`${place} INVALID_UUID`);
      });
    }

    for (const status of errorStatuses) {
      const cause = ownCauses[`${method.name} ${status}`] ?? causes[status];
      test(`answers ${status} for ${cause?.name}`, async () => {
        const answer = await cause?.provoke(method);
        if (answer === undefined) throw new Error(`no request is known that causes ${status}`);
        if (status === 500) expectInternalError(answer);
        else expectProblem(answer, status);
        if (status === 403) expect(answer.headers.get("www-authenticate")).toContain(`scope="${scope}"`);
      });
    }
  });
}

test("every operation of the clinic has these tests, but for streams", () => {
  const others = clinicMethods.filter((method) => !methods.includes(method));
  expect(others.map(({ name }) => name)).toEqual(STREAMS);
});

/** A request that succeeded, and its answer. */
interface Accepted {
  readonly request: JsonObject;
  /** The claims of its token. A replay has the same principal. */
  readonly as: TokenFor;
  readonly key: string;
  readonly answer: RestAnswer;
}

const acceptedByName = new Map<string, Promise<Accepted>>();

/** Sends the example of an operation once. Tests share it to send changed copies, which are rejected. */
function accepted(method: DescMethod): Promise<Accepted> {
  const known = acceptedByName.get(method.name) ?? sendExample(method);
  acceptedByName.set(method.name, known);
  return known;
}

async function sendExample(method: DescMethod): Promise<Accepted> {
  const [request, key] = [await examples.request(method.name), randomUUID()];
  const owner = OPTION_USES.has(method.name) ? {} : { organizationId: randomUUID(), companyId: randomUUID() };
  const as = { scopes: [operationOf(method).scope], ...owner };
  const changes = { token: await tokenOf(as), headers: { "idempotency-key": key } };
  return { request, as, key, answer: await sendOverRest(service, method, request, changes) };
}

async function send(method: DescMethod, changes: RequestChanges, as: TokenFor = {}): Promise<RestAnswer> {
  const { request } = await accepted(method);
  return sendOverRest(service, method, request, { token: await tokenOf(as), ...changes });
}

/** Sends a body that is not JSON, or an unknown parameter where there is no body. */
async function sendUnreadable(method: DescMethod): Promise<RestAnswer> {
  return hasQuery(method) ? sendWith(method, { unknown: 1 }) : send(method, { body: "{" });
}

function sendWithoutScope(method: DescMethod): Promise<RestAnswer> {
  const { scope } = operationOf(method);
  return send(method, {}, { scopes: service.scopes.filter((other) => other !== scope) });
}

/** Sends an unknown id in each place until one is missed. */
async function sendForMissing(method: DescMethod): Promise<RestAnswer> {
  const { request } = await accepted(method);
  const ids = idPositions(method.input).map((place) => put(request, place, randomUUID()));
  for (const absent of ids) {
    const answer = await sendOverRest(service, method, absent, { token: await tokenOf() });
    if (answer.status === 404) return answer;
  }
  throw new Error("no place is known in which an unknown id causes 404");
}

/** Sends the key of a success with another value of some member. */
async function sendUnderUsedKey(method: DescMethod): Promise<RestAnswer> {
  const { request, as, key } = await accepted(method);
  const changes = { token: await tokenOf(as), headers: { "idempotency-key": key } };
  for (const other of changesOf(request)) {
    const answer = await sendOverRest(service, method, other, changes);
    if (itemsOf(answer).includes("Idempotency-Key IDEMPOTENCY_KEY_REUSED")) return answer;
  }
  throw new Error(`no change of ${JSON.stringify(request)} is another request under the same key`);
}

/** Returns other values of the type of a value. */
function othersOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (typeof value === "number") return [value + 1];
  if (typeof value === "boolean") return [!value];
  if (typeof value === "string") return [randomUUID(), `${value} otra`];
  if (!Array.isArray(value)) return changesOf(value ?? {});
  const [first] = value;
  return [value.slice(1), ...othersOf(first).map((other) => value.with(0, other))];
}

/** Returns objects with another value of one member. */
function changesOf(object: JsonValue): JsonObject[] {
  const members = Object.entries(object as JsonObject);
  return members.flatMap(([name, value]) =>
    othersOf(value).map((other) => Object.assign({}, object, { [name]: other })),
  );
}

async function sendForeignCursor(method: DescMethod): Promise<RestAnswer> {
  const { answer } = await accepted(method);
  return sendWith(method, { cursor: String(answer.body["nextCursor"]) }, { tenantId: randomUUID() });
}

async function sendTooLate(method: DescMethod): Promise<RestAnswer> {
  const request = await examples.request(method.name);
  service.advance(TOO_LATE_MS);
  return sendOverRest(service, method, request, { token: await tokenOf() });
}

/** Sends an unknown member over Connect. Over REST some operations read it from the query, where it causes 400. */
async function sendUnknownMember(method: DescMethod): Promise<RestAnswer> {
  const { request } = await accepted(method);
  return sendOverConnect(method, { ...request, unknown: 1 });
}

async function sendOverConnect(method: DescMethod, request: JsonObject): Promise<RestAnswer> {
  const headers = { authorization: `Bearer ${await tokenOf()}`, "idempotency-key": randomUUID() };
  const body = Buffer.from(JSON.stringify(request));
  const call = { path: `/${operationName(method)}`, headers, body };
  const outcome = await sendCall(service.internalUrl, rpcFormats["Connect, JSON, HTTP/1.1"] as RpcFormat, call);
  return asRest(method as DescMethodUnary, outcome);
}

/** Uses up the quota of a principal. Requires that another principal of the tenant still has its own. */
async function sendTooOften(method: DescMethod): Promise<RestAnswer> {
  const [one, other] = [await limited.token({ client: randomUUID() }), await limited.token({ client: randomUUID() })];
  const { pageSize: _rowsCountAsRequests, ...request } = (await accepted(method)).request;
  const first = await sendOverRest(limited, method, request, { token: one });
  const answer = await sendOverRest(limited, method, request, { token: one });
  const beside = await sendOverRest(limited, method, request, { token: other });
  expect([first.status, beside.status]).not.toContain(429);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  return answer;
}

async function sendInFailure(method: DescMethod): Promise<RestAnswer> {
  const { request } = await accepted(method);
  const token = await tokenOf();
  isFailing = true;
  try {
    return await sendOverRest(service, method, request, { token });
  } finally {
    isFailing = false;
  }
}

async function sendWith(method: DescMethod, members: JsonObject, as?: TokenFor): Promise<RestAnswer> {
  const { request } = await accepted(method);
  return sendOverRest(service, method, { ...request, ...members }, { token: await tokenOf(as) });
}

function tokenOf(as: TokenFor = {}): Promise<string> {
  return service.token({ tenantId: DEMO_TENANT_ID, client: "demo", ...as });
}
