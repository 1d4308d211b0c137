import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { createRestHandler } from "../../src/handler.js";
import { restService } from "../../src/routes/rest-service.js";
import { LibraryService } from "../gen/library/v1/library_pb.js";
import { adapters } from "../support/adapters.js";
import { libraryService } from "../support/library-service.js";
import { makeService } from "../support/make-service.js";
import type { Received, SendInit } from "../support/start-server.js";

const json = { "content-type": "application/json" };

const implementation: Partial<ServiceImpl<typeof LibraryService>> = {
  ...libraryService,
  getBook({ name }, { responseHeader }) {
    if (name.endsWith("lost")) throw new ConnectError("lost", Code.NotFound, { "x-shelf": "7", "set-cookie": "c=3" });
    if (name.endsWith("broken")) throw new Error("secret");
    responseHeader.append("set-cookie", "a=1; Path=/");
    responseHeader.append("set-cookie", "b=2");
    responseHeader.set("etag", '"1"');
    return { name, title: "É 漢 😀" };
  },
};

const streaming = makeService({ name: "Watch", rule: "GET /v1/watch/{id}", serverStreaming: true });

async function* watch({ id, optText }: { id: string; optText?: string }) {
  yield { id, text: `É 漢 😀 ${optText}` };
  yield { id };
  if (id === "failing") throw new ConnectError("lost", Code.DataLoss);
}

const rest = createRestHandler({
  services: [restService(LibraryService, implementation), { ...streaming, implementation: { watch } }],
  successStatus: ({ name }) => (name === "DeleteBook" ? 204 : name === "CreateBook" ? 201 : 200),
  responseHeaders: { "cache-control": "no-store" },
  entityTag: ({ name }) => (name === "QueryKinds" ? () => '"kinds"' : undefined),
  eventIds: () => ({ responseField: "text", requestField: "opt_text" }),
  maxBodyBytes: 1000,
});

/** Headers that a server adds by itself, or that belong to one HTTP version. */
const serverHeaders = new Set([":status", "connection", "date", "keep-alive", "transfer-encoding", "x-powered-by"]);

const requests: readonly [name: string, status: number, method: string, path: string, init?: SendInit][] = [
  ["a success with cookies", 200, "GET", "/v1/books/x"],
  ["a success with an escaped path and a query", 200, "GET", "/v1/shelves/a%20b%2Fc/books?pageSize=5&by_title=true"],
  ["a success with another status and Location", 201, "POST", "/v1/shelves/a/books", { headers: json, body: "{}" }],
  ["a success without a body", 204, "DELETE", "/v1/shelves/a/books/b"],
  ["a success with a custom method", 200, "PUT", "/v1/probe"],
  ["a body in UTF-8", 200, "POST", "/v1/kinds", { headers: json, body: '{"id":"é漢"}' }],
  ["a body at the limit", 200, "POST", "/v1/kinds", { headers: json, body: "{}".padEnd(1000) }],
  ["a stream as lines", 200, "GET", "/v1/watch/x"],
  ["a stream that fails", 200, "GET", "/v1/watch/failing"],
  ["a stream as events", 200, "GET", "/v1/watch/x", { headers: { accept: "text/event-stream" } }],
  ["a stream after an event", 200, "GET", "/v1/watch/x", { headers: { "last-event-id": "\xc3\xa9" } }],
  ["a success with a tag", 200, "GET", "/v1/kinds/x"],
  ["304 for a known tag", 304, "GET", "/v1/kinds/x", { headers: { "if-none-match": 'W/"kinds"' } }],
  ["404 for a path", 404, "GET", "/nothing"],
  ["404 of the service, with its metadata", 404, "GET", "/v1/books/lost"],
  ["405 with Allow", 405, "PUT", "/v1/shelves/a/books/b"],
  ["405 of HEAD, without a body", 405, "HEAD", "/v1/books/x"],
  ["405 of OPTIONS", 405, "OPTIONS", "/v1/books/x"],
  ["413 by Content-Length", 413, "POST", "/v1/kinds", { headers: json, body: " ".repeat(1001) }],
  ["415 without a media type", 415, "POST", "/v1/kinds", { body: new Uint8Array([123, 125]) }],
  ["415 for another media type", 415, "POST", "/v1/kinds", { headers: { "content-type": "text/plain" }, body: "{}" }],
  ["415 for a coding", 415, "POST", "/v1/kinds", { headers: { ...json, "content-encoding": "gzip" }, body: "{}" }],
  ["400 for an empty body", 400, "POST", "/v1/kinds", { headers: json, body: "" }],
  ["400 for an unwanted body", 400, "DELETE", "/v1/shelves/a/books/b", { headers: json, body: "{}" }],
  ["400 for half a JSON", 400, "POST", "/v1/kinds", { headers: json, body: '{"id":' }],
  ["400 for no UTF-8", 400, "POST", "/v1/kinds", { headers: json, body: new Uint8Array([34, 255, 34]) }],
  ["400 for an unknown parameter", 400, "GET", "/v1/books/x?nope=1"],
  ["400 with every violation", 400, "POST", "/v1/kinds", { headers: json, body: '{"i32":"1","no":2,"flag":3}' }],
  ["500 without the text of the error", 500, "GET", "/v1/books/broken"],
];

describe.each(requests)("%s", (_, status, method, path, init) => {
  test("is the same from all adapters", async () => {
    const answers = new Map<string, Received>();
    for (const [name, serve] of Object.entries(adapters)) {
      answers.set(name, compared(await (await serve(rest)).send(method, path, init)));
    }
    const expected = answers.get("node:http");
    expect(expected?.status).toBe(status);
    for (const [name, answer] of answers) expect(answer, name).toEqual(expected);
  });
});

function compared({ status, headers, text }: Received): Received {
  return {
    status,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !serverHeaders.has(name))),
    text,
  };
}
