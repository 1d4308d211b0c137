import type { Interceptor } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { createRestHandler } from "../../src/handler.js";
import { restService } from "../../src/routes/rest-service.js";
import { MediaService } from "../gen/library/v1/media_pb.js";
import { call, requestOf, textOf } from "../support/call-handler.js";
import { mediaOptions as options } from "../support/media-service.js";

const two = "/v1/books:watch?titles=A&titles=%C3%A9";
const book = (title: string) => `{"name":"","title":"${title}","genre":"GENRE_UNSPECIFIED","tags":[]}`;
const events = { Accept: "text/event-stream" };

describe("a stream of responses", () => {
  test("is one JSON object per line", async () => {
    const { status, headers, text } = await call(options, "GET", two);
    expect([status, headers["content-type"]]).toEqual([200, "application/x-ndjson"]);
    expect(text).toBe(`{"result":${book("A")}}\n{"result":${book("é")}}\n`);
  });

  test("is one of events for a client that accepts them", async () => {
    const { headers, text } = await call(options, "GET", two, { headers: events });
    expect(headers["content-type"]).toBe("text/event-stream");
    expect(text).toBe(`data: ${book("A")}\n\ndata: ${book("é")}\n\nevent: end\ndata: {}\n\n`);
  });

  test.each([
    ["text/event-stream, */*;q=0.5", "text/event-stream"],
    ["text/event-stream;q=0.5, application/x-ndjson", "application/x-ndjson"],
    ["application/x-ndjson;q=0.5,Text/Event-Stream ; q=0.9", "text/event-stream"],
    ["text/event-stream;q=0", "application/x-ndjson"],
    ["text/event-stream;q=x", "application/x-ndjson"],
    ["text/*", "application/x-ndjson"],
    ["*/*", "application/x-ndjson"],
    ["application/json", "application/x-ndjson"],
  ])("for Accept: %s is %s", async (accept, contentType) => {
    expect((await call(options, "GET", two, { headers: { Accept: accept } })).headers["content-type"]).toBe(
      contentType,
    );
  });

  test.each([
    ["ndjson", events, "application/x-ndjson"],
    ["sse", {}, "text/event-stream"],
  ] as const)("has the format of the option %s for every request", async (streamFormat, headers, contentType) => {
    const answer = await call({ ...options, streamFormat }, "GET", two, { headers });
    expect(answer.headers["content-type"]).toBe(contentType);
  });

  test("may have its request in the body, and one field as its messages", async () => {
    const init = { body: '{"titles":["A"]}' };
    expect((await call(options, "POST", "/v1/books:watch", init)).text).toBe(`{"result":${book("A")}}\n`);
    expect((await call(options, "GET", "/v1/titles:watch?titles=A")).text).toBe('{"result":"A"}\n');
  });

  test("without messages is an empty body", async () => {
    expect(await call(options, "GET", "/v1/books:watch")).toMatchObject({ status: 200, text: "" });
    expect((await call(options, "GET", "/v1/books:watch", { headers: events })).text).toBe("event: end\ndata: {}\n\n");
  });

  test("has the headers that were set before its first message", async () => {
    expect((await call(options, "GET", two)).headers["x-shelf"]).toBe("7");
  });
});

describe("a stream that fails", () => {
  test("before its first message is an error like that of any call", async () => {
    const { status, headers, text } = await call(options, "GET", `${two}&failAfter=0`);
    expect([status, headers["content-type"], JSON.parse(text)]).toMatchObject([
      404,
      "application/problem+json",
      { detail: "no more" },
    ]);
    expect(headers["x-shelf"]).toBe("7");
  });

  test.each([["/v1/books:watch?titles=A&nope=1"], ["/v1/books:watch?failAfter=x"]])(
    "because %s is no valid request is an error like that of any call",
    async (url) => {
      expect((await call(options, "GET", url)).status).toBe(400);
    },
  );

  test.each([
    ["application/x-ndjson", `{"result":${book("A")}}\n{"error":ERROR}\n`],
    ["text/event-stream", `data: ${book("A")}\n\nevent: error\ndata: ERROR\n\n`],
  ])("later ends with the error as its last frame: %s", async (accept, expected) => {
    const { status, text } = await call(options, "GET", `${two}&failAfter=1`, { headers: { Accept: accept } });
    const problem = '{"type":"about:blank","title":"Not Found","status":404,"detail":"no more","code":"NOT_FOUND"}';
    expect([status, text]).toEqual([200, expected.replace("ERROR", problem)]);
  });

  test.each([
    ["JSON with line breaks", '{\n  "a": 1\n}', '{"a":1}'],
    ["bytes", new TextEncoder().encode("[1]"), "[1]"],
    ["no JSON", "it broke\n", '"it broke\\n"'],
  ])("shows an error that is rendered as %s in one line", async (_, body, shown) => {
    const errors = () => ({ status: 500, headers: {}, body });
    const { text } = await call({ ...options, errors }, "GET", `${two}&failAfter=1`);
    expect(text.split("\n").slice(1)).toEqual([`{"error":${shown}}`, ""]);
  });

  test("because a message cannot be written ends with that error", async () => {
    const bad = { publishedAt: { seconds: 999999999999n, nanos: 0 } };
    const failing = (messages: object[]) => ({
      services: [
        restService(MediaService, {
          async *watchBooks() {
            yield* messages;
          },
        }),
      ],
    });
    expect((await call(failing([bad]), "GET", "/v1/books:watch")).status).toBe(500);
    expect((await call(failing([{}, bad]), "GET", "/v1/books:watch")).text).toMatch(/\n\{"error":\{.*"status":500/);
  });

  test("breaks off if its error cannot be rendered", async () => {
    const errors = () => {
      throw new Error("again");
    };
    await expect(call({ ...options, errors }, "GET", `${two}&failAfter=1`)).rejects.toThrow("again");
  });
});

describe("interceptors", () => {
  test("run once for a stream, and see its responses; the later ones see its request", async () => {
    const seen: string[] = [];
    const note: Interceptor = (next) => async (request) => {
      if (!request.stream) throw new Error("a stream was expected");
      const asked: unknown[] = [];
      const message = (async function* () {
        for await (const each of request.message) {
          asked.push(each);
          yield each;
        }
      })();
      const response = await next({ ...request, message });
      if (!response.stream) throw new Error("a stream was expected");
      seen.push(`${request.method.name} ${asked.length}`);
      const messages = (async function* () {
        for await (const each of response.message) {
          seen.push("message");
          yield each;
        }
      })();
      return { ...response, message: messages };
    };
    await call({ ...options, headerInterceptors: [note], interceptors: [note] }, "GET", two);
    expect(seen).toEqual(["WatchBooks 1", "WatchBooks 0", "message", "message", "message", "message"]);
  });

  test("that refuse a stream do so before its request is read", async () => {
    const refuse: Interceptor = () => () => Promise.reject(new Error("refused"));
    const answer = await call({ ...options, headerInterceptors: [refuse] }, "GET", "/v1/books:watch?nope=1");
    expect(answer.status).toBe(500);
  });
});

describe("a caller that leaves", () => {
  /** Streams the titles and then waits for ever. `begun` resolves when it is called. */
  const waitingService = () => {
    const log: string[] = [];
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const service = restService(MediaService, {
      async *watchBooks({ titles }, { signal }) {
        signal.addEventListener("abort", () => log.push("aborted"));
        begin();
        try {
          for (const title of titles) yield { title };
          await new Promise(() => {});
        } finally {
          log.push("ended");
        }
      },
    });
    return { log, begun, handler: createRestHandler({ services: [service] }) };
  };

  test("before the first message gets no answer, and aborts the call", async () => {
    const { log, begun, handler } = waitingService();
    const controller = new AbortController();
    const answer = handler.handle(requestOf("GET", "/v1/books:watch", { signal: controller.signal }));
    await begun;
    controller.abort();
    expect(await answer).toBeUndefined();
    expect(log).toEqual(["aborted"]);
  });

  test("while a message is awaited aborts the call, even if the implementation does not listen", async () => {
    const { log, handler } = waitingService();
    const controller = new AbortController();
    const answer = await handler.handle(requestOf("GET", two, { signal: controller.signal }));
    const read = textOf(answer?.body ?? "");
    controller.abort();
    await expect(read).rejects.toThrow("aborted");
    expect(log).toContain("aborted");
  });

  test.each([0, 1])("after %i chunks ends the stream", async (count) => {
    const { log, handler } = waitingService();
    const answer = await handler.handle(requestOf("GET", two, {}));
    const body = answer?.body;
    if (typeof body !== "object" || !(Symbol.asyncIterator in body)) throw new Error("chunks were expected");
    const chunks = body[Symbol.asyncIterator]();
    for (let taken = 0; taken < count; taken++) await chunks.next();
    await chunks.return?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(log).toEqual(["aborted", "ended"]);
  });
});
