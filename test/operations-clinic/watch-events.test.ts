import { randomUUID } from "node:crypto";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Event_ResourceType, Event_Start } from "../../src/gen/cupo/clinic/v1/event_pb.js";
import { EventService, type WatchEventsResponse } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { ErrorInfoSchema } from "../../src/gen/google/rpc/error_details_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { startTwins, type Twins } from "../schedule/twins.js";
import { transports } from "../support/rpc-clients.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import * as resources from "./resources-under-test.js";

let twins: Twins;
let first: TestService;
let second: TestService;

beforeAll(async () => {
  twins = await startTwins();
  [first, second] = twins.both;
});

afterAll(() => twins.close());

describe.each(Object.entries(transports))("watching over %s", (_, createTransport) => {
  test("receives the changes of this and another replica as they happen, and ends when the caller aborts", async () => {
    const as = { tenantId: randomUUID() };
    const watch = await open(second, createTransport, as);
    expect(await watch.next()).toMatchObject({ events: [] });
    const ids: string[] = [];
    for (const service of [first, second, first]) {
      ids.push((await fixtures.registerPatient(service, {}, as)).id);
      expect(await watch.next()).toMatchObject({ events: [{ resourceId: ids.at(-1), type: "cupo.patient.created" }] });
    }
    watch.leave();
    expect(ConnectError.from(await watch.failure()).code).toBe(Code.Canceled);
  });

  test("continues at another replica from the last cursor", async () => {
    const as = { tenantId: randomUUID() };
    const watch = await open(first, createTransport, as, { start: Event_Start.OLDEST });
    await watch.next();
    const before = (await fixtures.registerPatient(first, {}, as)).id;
    const { cursor } = await watch.next();
    watch.leave();
    const missed = [
      (await fixtures.registerPatient(second, {}, as)).id,
      (await fixtures.registerPatient(first, {}, as)).id,
    ];
    const again = await open(second, createTransport, as, { cursor });
    const given = await again.events(2);
    expect(given.map(({ resourceId }) => resourceId)).toEqual(missed);
    expect(missed).not.toContain(before);
    again.leave();
  });

  test("receives only the requested resource types", async () => {
    const as = { tenantId: randomUUID() };
    const resourceTypes = [Event_ResourceType.PAYER];
    const watch = await open(first, createTransport, as, { resourceTypes });
    await watch.next();
    await fixtures.registerPatient(first, {}, as);
    const payerId = (await resources.createResource(first, resources.payer, {}, as)).id;
    expect(await watch.next()).toMatchObject({ events: [{ resourceId: payerId }] });
    watch.leave();
  });

  test("is rejected if events after the cursor were purged, with a code that differs from a bad request's", async () => {
    const stranger = await open(first, createTransport, { tenantId: randomUUID() });
    const { cursor } = await stranger.next();
    stranger.leave();
    const refusal = async (text: string) => {
      const watch = await open(first, createTransport, { tenantId: randomUUID() }, { cursor: text });
      const error = ConnectError.from(await watch.failure());
      return [error.code, error.findDetails(ErrorInfoSchema)[0]?.reason];
    };
    expect(await refusal(cursor)).toEqual([Code.FailedPrecondition, "OUT_OF_RANGE"]);
    expect(await refusal("none")).toEqual([Code.InvalidArgument, "VALIDATION_FAILED"]);
  });
});

describe("a watcher", () => {
  test("needs the scope", async () => {
    const scopes = first.scopes.filter((scope) => scope !== "events:read");
    const watch = await open(first, transports["gRPC, HTTP/2"], { scopes });
    expect(ConnectError.from(await watch.failure()).code).toBe(Code.PermissionDenied);
  });

  test("receives events of an organization only if they belong to it", async () => {
    const tenantId = randomUUID();
    const owner = { tenantId, organizationId: randomUUID() };
    const watches = await Promise.all([owner, { tenantId }].map((as) => open(first, transports["gRPC, HTTP/2"], as)));
    for (const watch of watches) await watch.next();
    const payerId = (await resources.createResource(first, resources.payer, {}, owner)).id;
    const patientId = (await fixtures.registerPatient(first, {}, owner)).id;
    const [own, others] = await Promise.all([watches[0]?.events(2), watches[1]?.events(1)]);
    expect(own?.map(({ resourceId }) => resourceId)).toEqual([payerId, patientId]);
    expect(others?.map(({ resourceId }) => resourceId)).toEqual([patientId]);
    for (const watch of watches) watch.leave();
  });

  test("is asked to reconnect when the service stops, and misses nothing after its cursor", async () => {
    const service = await startTestService();
    const as = { tenantId: randomUUID() };
    const watch = await open(service, transports["gRPC, HTTP/2"], as);
    await watch.next();
    await service.close();
    expect(ConnectError.from(await watch.failure()).code).toBe(Code.Unavailable);
  });
});

test("a watch and the pages of the list return the same events in the same order", async () => {
  const as = { tenantId: randomUUID() };
  await Promise.all(Array.from({ length: 12 }, (_, i) => fixtures.registerPatient(i % 2 ? first : second, {}, as)));
  const watch = await open(first, transports["gRPC, HTTP/2"], as, { start: Event_Start.OLDEST });
  const watched = await watch.events(12);
  watch.leave();
  const client = createClient(EventService, transports["gRPC, HTTP/2"](second.internalUrl));
  const { events } = await client.listEvents({}, { headers: await credentials(second, as) });
  expect(watched).toEqual(events);
});

interface Watch {
  /** Returns the next response. */
  next(): Promise<WatchEventsResponse>;
  /** Reads responses until `count` events have arrived. */
  events(count: number): Promise<WatchEventsResponse["events"]>;
  /** Returns the error that ended the stream. */
  failure(): Promise<unknown>;
  leave(): void;
}

type Request = Parameters<ReturnType<typeof createClient<typeof EventService>>["watchEvents"]>[0];

async function open(
  service: TestService,
  createTransport: (baseUrl: string) => Transport,
  as: TokenFor,
  request: Request = {},
): Promise<Watch> {
  const leaving = new AbortController();
  const client = createClient(EventService, createTransport(service.internalUrl));
  const options = { headers: await credentials(service, as), signal: leaving.signal };
  const responses = client.watchEvents(request, options)[Symbol.asyncIterator]();
  const next = async () => {
    const { done, value } = await responses.next();
    if (done === true) throw new Error("the watch has ended");
    return value;
  };
  return {
    next,
    async events(count) {
      const events: WatchEventsResponse["events"] = [];
      while (events.length < count) events.push(...(await next()).events);
      return events;
    },
    failure: () =>
      next().then(
        () => undefined,
        (error: unknown) => error,
      ),
    leave: () => leaving.abort(),
  };
}

async function credentials(service: TestService, as: TokenFor): Promise<Record<string, string>> {
  return { authorization: `Bearer ${await service.token(as)}` };
}
