import { describe, expect, test } from "vitest";
import { createRestHandler } from "../../src/handler.js";
import type { EventIds } from "../../src/stream/event-ids.js";
import { call, requestOf, textOf } from "../support/call-handler.js";
import { mediaOptions } from "../support/media-service.js";

const ids: EventIds = { responseField: "title", requestField: "after", removedFields: ["fail_after"], retryMs: 500 };
const optionsOf = (eventIds: EventIds) => ({
  ...mediaOptions,
  eventIds: ({ name }: { readonly name: string }) => (name === "WatchBooks" ? eventIds : undefined),
});
const options = optionsOf(ids);
const three = "/v1/books:watch?titles=A&titles=%C3%A9&titles=C";
const book = (title: string) => `data: {"name":"","title":"${title}","genre":"GENRE_UNSPECIFIED","tags":[]}\n\n`;
const end = "event: end\ndata: {}\n\n";

describe("server-sent events with ids", () => {
  test("begin with the time of a retry, and have the id of each message", async () => {
    const { text } = await call(options, "GET", three, events());
    expect(text).toBe(`retry: 500\nid: A\n${book("A")}id: é\n${book("é")}id: C\n${book("C")}${end}`);
  });

  test("leave the retry to the client unless the option has one", async () => {
    const { text } = await call(optionsOf({ responseField: "title", requestField: "after" }), "GET", three, events());
    expect(text.startsWith("id: A\n")).toBe(true);
  });

  test("have no id where it is empty or would break the frame", async () => {
    const { text } = await call(options, "GET", "/v1/books:watch?titles=&titles=a%0Ab&titles=a%0Db", events());
    expect(text.match(/^id/gm)).toBeNull();
  });

  test("are one message each where only a field of it is sent", async () => {
    const { text } = await call(options, "GET", "/v1/titles:watch?titles=A", events());
    expect(text).toBe(`retry: 500\nid: A\ndata: "A"\n\n${end}`);
  });

  test("are not in lines of JSON", async () => {
    const { text } = await call(options, "GET", `${three}&failAfter=1`);
    expect(text).toMatch(/^\{"result":.*\}\n\{"error":.*\}\n$/);
  });
});

describe("Last-Event-ID", () => {
  test.each([
    ["A", [bookNamed("é"), bookNamed("C")]],
    [latin1("é"), [bookNamed("C")]],
    ["C", []],
    ["", [bookNamed("A"), bookNamed("é"), bookNamed("C")]],
  ])("%s begins after that event", async (id, expected) => {
    const { text } = await call(options, "GET", three, events({ "Last-Event-ID": id }));
    expect(text.match(/"title":"[^"]*"/g) ?? []).toEqual(expected);
  });

  test("wins over the query, whose other fields for the beginning it removes", async () => {
    const url = `${three}&after=A&failAfter=0`;
    expect((await call(options, "GET", url, events())).status).toBe(404);
    const { status, text } = await call(options, "GET", url, events({ "Last-Event-ID": latin1("é") }));
    expect([status, text]).toEqual([200, `retry: 500\nid: C\n${book("C")}${end}`]);
  });

  test("is read for lines of JSON, and for a request in a body", async () => {
    const headers = { "Last-Event-ID": "A", "Content-Type": "application/json" };
    const { text } = await call(options, "POST", "/v1/books:watch", { headers, body: '{"titles":["A","B"]}' });
    expect(text.match(/"title":"[^"]*"/g)).toEqual([bookNamed("B")]);
  });

  test.each([
    ["twice", ["Last-Event-ID", "A", "last-event-id", "A"], "DUPLICATE"],
    ["as bytes that are not UTF-8", ["Last-Event-ID", "\xff"], "INVALID_FORMAT"],
  ])("sent %s is 400", async (_, rawHeaders, code) => {
    const answer = await createRestHandler(options).handle({ ...requestOf("GET", three, {}), rawHeaders });
    const problem: unknown = JSON.parse(await textOf(answer?.body ?? ""));
    expect(answer?.status).toBe(400);
    expect(problem).toMatchObject({ errors: [{ code, field: "Last-Event-ID" }] });
  });

  test("is ignored without the option", async () => {
    const { text } = await call(mediaOptions, "GET", three, events({ "Last-Event-ID": "A" }));
    expect(text.startsWith(book("A"))).toBe(true);
  });
});

test.each([
  [{ ...ids, responseField: "nothing" }, "library.v1.Book has no field nothing"],
  [{ ...ids, requestField: "nothing" }, "library.v1.WatchBooksRequest has no field nothing"],
  [{ ...ids, removedFields: ["nothing"] }, "library.v1.WatchBooksRequest has no field nothing"],
  [{ ...ids, responseField: "tags" }, "library.v1.Book.tags is not a string and cannot be the id of an event"],
  [{ ...ids, responseField: "pages" }, "library.v1.Book.pages is not a string and cannot be the id of an event"],
])("the handler is not created for %j", (eventIds, message) => {
  expect(() => createRestHandler(optionsOf(eventIds))).toThrow(message);
});

function events(headers: Readonly<Record<string, string>> = {}) {
  return { headers: { Accept: "text/event-stream", ...headers } };
}

function bookNamed(title: string): string {
  return `"title":"${title}"`;
}

/** Returns a text as servers hand over its UTF-8 bytes in a header. */
function latin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}
