import { once } from "node:events";
import { connect } from "node:net";
import { createContextValues } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import type { NodeRequest } from "../src/node/read-body.js";
import type { RestError } from "../src/rest-error.js";
import { LibraryService } from "./gen/library/v1/library_pb.js";
import { defaults, sendRaw, startHttp2Server, startServer, type TestOptions } from "./support/start-server.js";

const json = { "content-type": "application/json" };

describe("the media type", () => {
  test.each([
    ["application/json", 200],
    ["APPLICATION/JSON", 200],
    ["application/json; charset=utf-8", 200],
    ["application/json;charset=UTF-8", 200],
    ['application/json ; Charset="utf-8" ; version=1', 200],
    ['application/json; a="x;charset=latin1\\""', 200],
    ["application/json;", 200],
    ["application/json; charset=latin1", 415],
    ["application/json; charset=utf-16", 415],
    ["application/json; charset=", 415],
    ["application/json; charset=utf-8; charset=utf-8", 415],
    ["application/json; charset=utf-8; charset=latin1", 415],
    ["application/json charset=utf-8", 415],
    ["application/json, application/json", 415],
    ["application/jsonp", 415],
    ["application/problem+json", 415],
    ["application/x-www-form-urlencoded", 415],
    ["multipart/form-data; boundary=x", 415],
    ["text/plain", 415],
    ["", 415],
  ])("%s is %i", async (contentType, status) => {
    const { send } = await startServer();
    const headers = { "content-type": contentType };
    expect((await send("POST", "/v1/kinds", { headers, body: "{}" })).status).toBe(status);
  });

  test.each([
    ["", "Content-Type"],
    ["content-type: application/json\r\ncontent-type: application/json\r\n", "Content-Type"],
    ["content-type: application/json\r\ncontent-encoding: gzip\r\n", "Content-Encoding"],
    ["content-type: application/json\r\ncontent-encoding: identity, gzip\r\n", "Content-Encoding"],
    [
      "content-type: application/json\r\ncontent-encoding: identity\r\ncontent-encoding: identity\r\n",
      "Content-Encoding",
    ],
    ["content-type: application/json\r\ncontent-encoding: Identity\r\n", undefined],
  ])("and similar headers are validated in %j", async (headers, field) => {
    const { port } = await startServer();
    const request = `POST /v1/kinds HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n${headers}\r\n{}`;
    const [head = "", body = ""] = (await sendRaw(port, request)).split("\r\n\r\n");
    const { violations = [] } = JSON.parse(body) as Partial<RestError>;
    expect([head.slice(9, 12), violations[0]?.field]).toEqual(
      field === undefined ? ["200", undefined] : ["415", field],
    );
  });

  test("is not checked for an operation without a body, and the Accept header never is", async () => {
    const { send } = await startServer();
    expect(
      (await send("GET", "/v1/books/x", { headers: { accept: "text/html", "content-type": "text/plain" } })).status,
    ).toBe(200);
  });
});

describe("a body over the limit", () => {
  test("is rejected by its Content-Length, and the connection closed", async () => {
    const { port } = await startServer();
    const answer = await sendRaw(
      port,
      "POST /v1/kinds HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1001\r\n\r\n",
    );
    expect(answer).toMatch(/^HTTP\/1.1 413 [^]*connection: close[^]*longer than 1000 bytes/i);
  });

  test("is rejected at the first byte too many, and the connection closed", async () => {
    const { port } = await startServer();
    const chunk = `100\r\n${" ".repeat(256)}\r\n`;
    const head =
      "POST /v1/kinds HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    expect(await sendRaw(port, head + chunk.repeat(4))).toMatch(
      /^HTTP\/1.1 413 [^]*connection: close[^]*longer than 1000 bytes/i,
    );
  });

  test("is accepted with exactly the limit in chunks", async () => {
    const { send } = await startServer();
    const body = `{"id":"${"x".repeat(991)}"}`.slice(0, 1000);
    const answer = await send("POST", "/v1/kinds", { headers: { ...json, "transfer-encoding": "chunked" }, body });
    expect([body.length, answer.status]).toEqual([1000, 200]);
  });

  test("does not close the connection for an unread body within the limit", async () => {
    const { port } = await startServer();
    const first = "POST /nothing HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nabcde";
    const second = "GET /v1/books/x HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    const answers = await sendRaw(port, first + second);
    expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 404", "HTTP/1.1 200"]);
  });
});

describe.each([
  ["HTTP/1.1", startServer],
  ["HTTP/2", startHttp2Server],
])("over %s, a body that other code has read before", (_, start) => {
  const whole = (node: NodeRequest) => once(node.resume(), "end");
  const inPart = (node: NodeRequest) => once(node, "data").then(() => node.pause());

  test.each([
    ["whole", whole, '{"id":"x"}'],
    ["in part", inPart, '{"id":"x"}'],
  ])("%s is an internal error, and answered", async (__, read, body) => {
    const { send } = await start(readFirst(read));
    const { status, text } = await send("POST", "/v1/kinds", { headers: json, body });
    expect([status, text]).toEqual([500, expect.stringContaining("was read before")]);
  });

  test("is ignored if it was empty", async () => {
    const { send } = await start(readFirst(whole));
    expect((await send("GET", "/v1/books/x")).status).toBe(200);
  });
});

describe("a caller who aborts", () => {
  test("while the body is read ends the call without an error", async () => {
    let renderings = 0;
    const begun = signal();
    const { port, handled } = await startServer({
      headerInterceptors: [
        (next) => (request) => {
          begun.give();
          return next(request);
        },
      ],
      errors: (error) => {
        renderings += 1;
        return defaults.errors(error);
      },
    });
    const socket = connect(port, "127.0.0.1");
    socket.write(
      "POST /v1/kinds HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
    );
    await begun.given;
    socket.destroy();
    await Promise.all(handled);
    expect(renderings).toBe(0);
  });

  test("while the implementation runs aborts its signal", async () => {
    const begun = signal();
    const aborted = signal();
    const implementation = {
      getBook: async (_: unknown, context: { signal: AbortSignal }) => {
        context.signal.addEventListener("abort", aborted.give);
        begun.give();
        await aborted.given;
        return {};
      },
    };
    const { port, handled } = await startServer({ services: [{ service: LibraryService, implementation }] });
    const socket = connect(port, "127.0.0.1");
    socket.write("GET /v1/books/x HTTP/1.1\r\nhost: x\r\n\r\n");
    await begun.given;
    socket.destroy();
    await Promise.all(handled);
    expect(handled).toHaveLength(1);
  });
});

/** Returns options with an interceptor that reads the body before the handler does. */
function readFirst(read: (node: NodeRequest) => Promise<unknown>): TestOptions {
  let node: NodeRequest | undefined;
  return {
    contextValues: (request) => {
      node = request;
      return createContextValues();
    },
    headerInterceptors: [
      (next) => async (request) => {
        if (node !== undefined) await read(node);
        return next(request);
      },
    ],
  };
}

function signal() {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { give: () => give(), given };
}
