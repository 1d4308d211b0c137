import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { type EventReader, openEvents } from "../support/event-source.js";
import { expectProblem } from "../support/problem.js";
import { sendRequest } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";

interface Batch {
  readonly events: readonly { readonly eventId: string; readonly resourceId: string }[];
  readonly cursor: string;
}

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ PUBLIC_CLINIC_API: "EventService" });
});

afterAll(() => service.close());

describe.each(["public", "internal"] as const)("server-sent events of the %s listener", (listener) => {
  test("have the cursor as id, and a time after which to call again", async () => {
    const as = { tenantId: randomUUID() };
    const reader = await open(listener, as, "?start=OLDEST");
    await fixtures.registerPatient(service, {}, as);
    const event = await eventWith(reader);
    expect([reader.status, reader.headers.get("content-type"), reader.retryMs()]).toEqual([
      200,
      "text/event-stream",
      2_000,
    ]);
    expect(event.lastEventId).toBe(batchIn(event.data).cursor);
    reader.leave();
  });

  test("go on after the last id when the connection is cut, with nothing missing or twice", async () => {
    const as = { tenantId: randomUUID() };
    const made: string[] = [];
    const register = async () => made.push((await fixtures.registerPatient(service, {}, as)).id);
    const seen: string[] = [];
    let lastEventId = "";
    for (let cuts = 0; cuts < 6; cuts++) {
      const missed = Array.from({ length: cuts }, register);
      await Promise.all(missed);
      const reader = await open(listener, as, "?start=OLDEST", lastEventId);
      const during = register();
      const known = seen.length;
      while (seen.length < known + cuts + 1) {
        const event = await reader.next();
        seen.push(...batchIn(event.data).events.map(({ resourceId }) => resourceId));
        ({ lastEventId } = event);
      }
      reader.leave();
      await during;
    }
    expect(seen.toSorted()).toEqual(made.toSorted());
    expect(new Set(seen).size).toBe(seen.length);
  });
});

describe("Last-Event-ID", () => {
  test("wins over the cursor in the address, with which a browser calls again", async () => {
    const as = { tenantId: randomUUID() };
    const first = await open("public", as, "?start=OLDEST");
    await fixtures.registerPatient(service, {}, as);
    const old = await eventWith(first);
    const later = await fixtures.registerPatient(service, {}, as);
    const { lastEventId } = await eventWith(first);
    first.leave();
    const newest = await fixtures.registerPatient(service, {}, as);
    const again = await open("public", as, `?cursor=${old.lastEventId}`, lastEventId);
    const { events } = batchIn((await eventWith(again)).data);
    again.leave();
    expect(events.map(({ resourceId }) => resourceId)).toEqual([newest.id]);
    expect(newest.id).not.toBe(later.id);
  });

  test.each([
    ["none", 422, ["cursor INVALID_VALUE"]],
    ["x".repeat(129), 422, ["cursor TOO_LONG"]],
    ["\xff", 400, ["Last-Event-ID INVALID_FORMAT"]],
  ])("%s is %i", async (id, status, items) => {
    const token = await service.token();
    const url = `${service.publicUrl}/api/clinic/v1/events:watch`;
    const headers = { "last-event-id": id, accept: "text/event-stream" };
    expectProblem(await sendRequest("GET", url, { token, headers }), status, items);
  });
});

async function open(
  listener: "public" | "internal",
  as: TokenFor,
  query: string,
  lastEventId?: string,
): Promise<EventReader> {
  const origin = listener === "public" ? service.publicUrl : service.internalUrl;
  const headers = { authorization: `Bearer ${await service.token(as)}` };
  const url = `${origin}/api/clinic/v1/events:watch${query}`;
  return openEvents(url, lastEventId ? { ...headers, "last-event-id": lastEventId } : headers);
}

/** Reads until a message has an event. */
async function eventWith(reader: EventReader) {
  for (;;) {
    const event = await reader.next();
    if (batchIn(event.data).events.length > 0) return event;
  }
}

function batchIn(data: string): Batch {
  return JSON.parse(data) as Batch;
}
