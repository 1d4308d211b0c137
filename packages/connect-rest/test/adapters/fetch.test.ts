import { createContextKey, createContextValues, type HandlerContext } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { fetchHandler } from "../../src/fetch/fetch-handler.js";
import { createRestHandler, type RestHandlerOptions } from "../../src/handler.js";
import { LibraryService } from "../gen/library/v1/library_pb.js";
import { libraryService } from "../support/library-service.js";

const json = { "content-type": "application/json" };
const services = [{ service: LibraryService, implementation: libraryService }];

describe("a body", () => {
  test("over the limit is refused at the chunk that exceeds it, and not read further", async () => {
    let made = 0;
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          made += 1;
          controller.enqueue(new Uint8Array(100));
        },
        cancel: () => {
          cancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
    const response = await handler({ maxBodyBytes: 250 })(post(body));
    expect([response.status, made, cancelled]).toEqual([413, 3, true]);
    expect(await response.json()).toMatchObject({ detail: "The body is longer than 250 bytes." });
  });

  test("over the limit by its Content-Length is not read at all", async () => {
    const request = post("{}", { ...json, "content-length": "251" });
    expect([(await handler({ maxBodyBytes: 250 })(request)).status, request.bodyUsed]).toEqual([413, false]);
  });

  test("in chunks is read to its end", async () => {
    const body = streamOf('{"id":', '"é', '"}');
    expect(await (await handler()(post(body))).json()).toMatchObject({ id: "é" });
  });

  test.each([
    ["used", async (request: Request) => void (await request.text())],
    ["locked", async (request: Request) => void request.body?.getReader()],
  ])("that is %s is answered with an error that says so", async (_, take) => {
    const request = post("{}");
    await take(request);
    const response = await handler()(request);
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ detail: expect.stringContaining("was read before") });
  });

  test("that breaks off ends the call without an error", async () => {
    let renderings = 0;
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) });
    const errors = () => {
      renderings += 1;
      return { status: 500, headers: {}, body: "" };
    };
    const response = await handler({ errors })(post(body));
    expect([response.status, await response.text(), renderings]).toEqual([499, "", 0]);
  });
});

describe("a caller who aborts", () => {
  test("before the body is read ends the call", async () => {
    const response = await handler()(post("{}", json, AbortSignal.abort()));
    expect([response.status, await response.text()]).toEqual([499, ""]);
  });

  test("while the body is read ends the call", async () => {
    const controller = new AbortController();
    const body = new ReadableStream({ pull: () => controller.abort() }, { highWaterMark: 0 });
    const response = await handler()(post(body, json, controller.signal));
    expect(response.status).toBe(499);
  });

  test("while the implementation runs aborts its signal with the same reason", async () => {
    const controller = new AbortController();
    const reasons: unknown[] = [];
    const getBook = (_: unknown, { signal }: HandlerContext) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          reasons.push(signal.reason);
          reject(new Error("stopped"));
        });
        controller.abort("left");
      });
    const serve = handler({ services: [{ service: LibraryService, implementation: { getBook } }] });
    const response = await serve(new Request("http://x/v1/books/x", { signal: controller.signal }));
    expect([response.status, reasons]).toEqual([499, ["left"]]);
  });
});

describe("the address", () => {
  test.each([
    ["http://x/v1/kinds/a?flag=true", "/v1/kinds/a?flag=true"],
    ["https://user@x:8443/v1/kinds/a?flag=true#f/?", "/v1/kinds/a?flag=true"],
    ["http://[::1]:80/v1/kinds/a#f", "/v1/kinds/a"],
  ])("%s is seen as path and query", async (address, expected) => {
    const seen: string[] = [];
    const queryKinds = (request: object, { url }: HandlerContext) => {
      seen.push(url);
      return request;
    };
    const serve = handler({ services: [{ service: LibraryService, implementation: { queryKinds } }] });
    expect((await serve(withUrl(address))).status).toBe(200);
    expect(seen).toEqual([expected]);
  });
});

describe("a path without a route", () => {
  test("is left to next, with the arguments of the runtime", async () => {
    const serve = fetchHandler<[env: string]>(createRestHandler({ services }), {
      next: (request, env) => new Response(`${request.method} ${env}`, { status: 418 }),
    });
    const response = await serve(new Request("http://x/nothing"), "production");
    expect([response.status, await response.text()]).toEqual([418, "GET production"]);
    expect((await serve(new Request("http://x/v1/books/x", { method: "PUT" }), "")).status).toBe(405);
  });
});

test("context values can be made from the request and the arguments of the runtime", async () => {
  const key = createContextKey("");
  const getBook = (_: unknown, { values }: HandlerContext) => ({ title: values.get(key) });
  const rest = createRestHandler({ services: [{ service: LibraryService, implementation: { getBook } }] });
  const serve = fetchHandler<[env: { name: string }]>(rest, {
    contextValues: (request, { name }) => createContextValues().set(key, `${request.method} ${name}`),
  });
  const response = await serve(new Request("http://x/v1/books/x"), { name: "edge" });
  expect(await response.json()).toMatchObject({ title: "GET edge" });
});

describe("the last resort", () => {
  const responseHeaders = { "cache-control": "no-store" };
  const refused = new Error("refused");
  const fail = () => {
    throw refused;
  };

  test.each([
    ["the renderer of errors throws", { errors: fail }],
    [
      "the renderer of errors returns an invalid header",
      { errors: () => ({ status: 400, headers: { "x-b": "a\nb" }, body: "" }) },
    ],
    ["the renderer of errors returns an invalid status", { errors: () => ({ status: 99, headers: {}, body: "" }) }],
  ])("is sent when %s, and the failure is reported", async (_, options) => {
    const failures: unknown[] = [];
    const rest = createRestHandler({ services, responseHeaders, ...options });
    const response = await fetchHandler(rest, { onFailure: (error) => failures.push(error) })(new Request("http://x/"));
    expect([response.status, response.headers.get("cache-control"), await response.text()]).toEqual([
      500,
      "no-store",
      "",
    ]);
    expect(failures).toHaveLength(1);
  });

  test("has no headers when those are invalid", async () => {
    const rest = createRestHandler({ services, responseHeaders: { "x-b": "a\nb" }, errors: fail });
    expect((await fetchHandler(rest)(new Request("http://x/"))).status).toBe(500);
  });
});

function handler(options: RestHandlerOptions = {}) {
  return fetchHandler(createRestHandler({ services, ...options }));
}

function post(body: string | ReadableStream, headers: Record<string, string> = json, signal?: AbortSignal): Request {
  const init = { method: "POST", headers, body, duplex: "half", ...(signal === undefined ? {} : { signal }) };
  return new Request("http://x/v1/kinds", init as RequestInit);
}

function streamOf(...chunks: readonly string[]): ReadableStream<Uint8Array> {
  return new Blob([...chunks]).stream();
}

/** Returns a request with credentials in its address. The constructor rejects them, but a server may get them. */
function withUrl(url: string): Request {
  const request = new Request("http://x/");
  Object.defineProperty(request, "url", { value: new URL(url).href });
  return request;
}
