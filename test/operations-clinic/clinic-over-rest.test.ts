import { restRoutes } from "@cupo/connect-rest";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEMO_TENANT_ID } from "../../src/demo/large-clinic.js";
import { demo } from "../../src/openapi/examples/demo-ids.js";
import { isPublished } from "../../src/operation.js";
import { servedServices } from "../../src/services/services.js";
import { startDemoService } from "../openapi/example-calls.js";
import { expectProblem } from "../support/problem.js";
import { registration } from "../support/registration.js";
import { type RequestChanges, type RestAnswer, sendRequest } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";

let service: TestService;

beforeAll(async () => {
  service = await startDemoService({ PUBLIC_CLINIC_API: "all" });
});

afterAll(() => service.close());

describe("a client of the public listener", () => {
  test("searches, books, reads, reschedules and cancels", async () => {
    const { body: patient } = await send("POST", `${service.baseUrl}/patients`, { body: registration() });
    const criteria = { serviceId: demo.service.general, dateFrom: day(1), dateTo: day(30) };
    const typed = { ...criteria, appointmentTypeId: demo.appointmentType.first };
    const optionToken = await firstOption({ ...typed, patientId: String(patient["id"]) });
    const booking = {
      optionToken,
      patientId: patient["id"],
      requestSourceId: demo.requestSource.portal,
      appointmentTypeId: demo.appointmentType.first,
    };
    const { status, body: booked } = await clinic("POST", "/appointments", { body: booking });
    expect([status, booked["status"]]).toEqual([201, "PENDING"]);
    const id = String(booked["appointmentId"]);
    expect((await clinic("GET", `/appointments/${id}`)).body).toEqual(booked);
    const move = { optionToken: await firstOption({ ...criteria, appointmentId: id }), expectedVersion: 1 };
    const moved = await send("POST", `${service.baseUrl}/appointments/${id}/reschedule`, { body: move });
    expect(moved.body).toMatchObject({ id, version: 2 });
    const reason = { expectedVersion: 2, cancellationReasonId: demo.cancellationReason.patient };
    const { body: cancelled } = await clinic("POST", `/appointments/${id}:cancel`, { body: reason });
    expect(cancelled).toMatchObject({ status: "CANCELLED", version: 3 });
    expect((await clinic("GET", `/appointments/${id}/changes`)).body["changes"]).toHaveLength(3);
  });

  test("needs a key for a change and none for a read, and gets a replay for a repeated change", async () => {
    const path = `/locations/${demo.location.chia}`;
    const read = await clinic("GET", path, { headers: { "idempotency-key": null } });
    expect(read.status).toBe(200);
    const body = { name: "Sede Chía", expectedVersion: read.body["version"] };
    const refused = await clinic("PATCH", path, { body, headers: { "idempotency-key": null } });
    expectProblem(refused, 400, ["Idempotency-Key REQUIRED"]);
    const headers = { "idempotency-key": "clinic-over-rest" };
    const [first, second] = [
      await clinic("PATCH", path, { body, headers }),
      await clinic("PATCH", path, { body, headers }),
    ];
    expect([second.text, second.headers.get("idempotent-replayed")]).toEqual([first.text, "true"]);
  });

  test.each([
    ["GET", "/locations?pageSize=x", "pageSize INVALID_TYPE"],
    ["GET", "/locations?nope=1", "nope UNKNOWN_FIELD"],
    ["GET", "/locations?pageSize=1&pageSize=2", "pageSize DUPLICATE"],
  ])("gets 400 for %s %s", async (method, path, item) => {
    expectProblem(await clinic(method, path), 400, [item]);
  });

  test("gets the token of the next page in the body, and no Link header", async () => {
    const { headers, body } = await clinic("GET", "/locations?pageSize=1");
    expect([headers.get("link"), body["nextPageToken"]]).toEqual([null, expect.stringMatching(/./)]);
    const next = `/locations?pageSize=1&pageToken=${encodeURIComponent(String(body["nextPageToken"]))}`;
    expect((await clinic("GET", next)).body["locations"]).not.toEqual(body["locations"]);
  });

  test("gets 422 for values that break a rule, 404 for what does not exist and 403 without the scope", async () => {
    expectProblem(await clinic("GET", "/locations?pageSize=-1"), 422);
    expectProblem(await clinic("GET", `/appointments/${demo.location.chia}`), 404);
    const token = await service.token({ tenantId: DEMO_TENANT_ID, scopes: ["patients:write"] });
    expectProblem(await clinic("GET", "/locations", { token }), 403);
  });

  test.each([
    ["text/event-stream", /^retry: \d+\nid: \S+\ndata: \{"events":\[\{"eventId":/],
    ["*/*", /^\{"result":\{"events":\[\{"eventId":/],
  ])("watches events as %s, until it leaves", async (accept, first) => {
    const token = await service.token({ tenantId: DEMO_TENANT_ID });
    const leaving = new AbortController();
    const url = `${service.publicUrl}/api/clinic/v1/events:watch?start=OLDEST`;
    const headers = { authorization: `Bearer ${token}`, accept };
    const response = await fetch(url, { headers, signal: leaving.signal });
    const { value } = (await response.body?.getReader().read()) ?? {};
    leaving.abort();
    expect([response.status, new TextDecoder().decode(value)]).toEqual([200, expect.stringMatching(first)]);
  });

  test("may name the person behind it", async () => {
    const headers = { "actor-id": "a person" };
    const refused = await clinic("GET", "/locations", { headers });
    expectProblem(refused, 400, ["Actor-Id INVALID_FORMAT"]);
  });
});

test("no read has a text about a person in its URL", () => {
  const own = servedServices.map(({ service: each }) => each).filter((each) => !isPublished(each));
  const routes = restRoutes("", own);
  const inUrl = routes.filter(({ body }) => body === "none").flatMap(({ method }) => method.input.fields);
  const personal = /^(name|full_name|phone|email|text|comment|note|document_.*)$/;
  expect(inUrl.filter(({ name }) => personal.test(name)).map(String)).toEqual([]);
});

describe("the setting PUBLIC_CLINIC_API", () => {
  test("is off by default: the public listener has none of the operations, the internal one all", async () => {
    const plain = await startTestService();
    try {
      expectProblem(await sendRequest("GET", `${plain.publicUrl}/api/clinic/v1/locations`, {}), 404);
      const token = await plain.token();
      const inside = await sendRequest("GET", `${plain.internalUrl}/api/clinic/v1/locations`, { token });
      expect([inside.status, inside.body]).toEqual([200, { locations: [], nextPageToken: "" }]);
    } finally {
      await plain.close();
    }
  });

  test("adds the named services alone", async () => {
    const some = await startTestService({ PUBLIC_CLINIC_API: "EventService NoteService" });
    try {
      const token = await some.token();
      const get = (path: string) => sendRequest("GET", `${some.publicUrl}/api/clinic/v1${path}`, { token });
      expect((await get("/events")).status).toBe(200);
      expect((await get("/locations")).status).toBe(404);
    } finally {
      await some.close();
    }
  });

  test("prevents the start if a service does not exist", async () => {
    await expect(startTestService({ PUBLIC_CLINIC_API: "BookingService NoService" })).rejects.toThrow(
      "PUBLIC_CLINIC_API names NoService",
    );
  });
});

async function firstOption(criteria: Record<string, string>): Promise<unknown> {
  const { body } = await clinic("GET", `/appointment-options?${new URLSearchParams(criteria).toString()}`);
  const [option] = body["options"] as { readonly optionToken: string }[];
  return option?.optionToken;
}

function day(ahead: number): string {
  return new Date(service.now() + ahead * 86_400_000).toISOString().slice(0, 10);
}

function clinic(method: string, path: string, changes: RequestChanges = {}): Promise<RestAnswer> {
  return send(method, `${service.publicUrl}/api/clinic/v1${path}`, changes);
}

async function send(method: string, url: string, changes: RequestChanges): Promise<RestAnswer> {
  return sendRequest(method, url, { token: await service.token({ tenantId: DEMO_TENANT_ID }), ...changes });
}
