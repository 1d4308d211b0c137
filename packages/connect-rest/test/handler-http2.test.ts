import { connect, constants } from "node:http2";
import { describe, expect, test } from "vitest";
import { LibraryService } from "./gen/library/v1/library_pb.js";
import { defaults, startHttp2Server } from "./support/start-server.js";

const json = { "content-type": "application/json" };

describe("over HTTP/2", () => {
  test.each([
    ["GET", "/v1/books/x", undefined, 200],
    ["POST", "/v1/kinds", '{"id":"é"}', 200],
    ["POST", "/v1/kinds", '{"id":1}', 422],
    ["POST", "/v1/kinds", "{", 400],
    ["POST", "/v1/kinds", " ".repeat(1001), 413],
    ["GET", "/v1/books/x", "{}", 400],
    ["GET", "/v1/books/\u00e9", undefined, 400],
    ["GET", "/v1/books/x?\u00e9=1", undefined, 400],
    ["GET", "/nothing", "unread", 404],
    ["OPTIONS", "*", undefined, 404],
    ["HEAD", "/v1/books/x", undefined, 405],
    ["PUT", "/v1/kinds", undefined, 405],
  ])("%s %s with %j is %i", async (method, path, body, status) => {
    const { send } = await startHttp2Server({ responseHeaders: { "Cache-Control": "no-store" } });
    const answer = await send(method, path, body === undefined ? { headers: json } : { headers: json, body });
    expect([answer.status, answer.headers["cache-control"]]).toEqual([status, "no-store"]);
    if (method === "HEAD") expect(answer.text).toBe("");
    else expect(answer.headers["content-length"]).toBe(String(Buffer.byteLength(answer.text)));
    if (status === 405) expect(answer.headers["allow"]).toBe(method === "HEAD" ? "GET" : "POST");
  });

  test("an operation of status 204 has no body", async () => {
    const { send } = await startHttp2Server({ successStatus: () => 204 });
    expect(await send("DELETE", "/v1/shelves/a/books/b")).toMatchObject({ status: 204, text: "" });
  });

  test("a body over the limit is answered and its stream closed, without an error and before the body ends", async () => {
    const { port } = await startHttp2Server();
    const session = connect(`http://127.0.0.1:${port}`);
    const stream = session.request({ ":method": "POST", ":path": "/v1/kinds", ...json });
    stream.write(" ".repeat(1001));
    const status = await new Promise((resolve) => stream.on("response", (headers) => resolve(headers[":status"])));
    const code = await new Promise((resolve) => stream.on("close", () => resolve(stream.rstCode)).resume());
    expect([status, code]).toEqual([413, constants.NGHTTP2_NO_ERROR]);
    const next = session.request({ ":path": "/v1/books/x" });
    const nextStatus = await new Promise((resolve) => next.on("response", (headers) => resolve(headers[":status"])));
    session.destroy();
    expect(nextStatus).toBe(200);
  });

  test("a stream that is reset while its body is read ends without an error", async () => {
    let renderings = 0;
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const { port, handled } = await startHttp2Server({
      headerInterceptors: [
        (next) => (request) => {
          begin();
          return next(request);
        },
      ],
      errors: (error) => {
        renderings += 1;
        return defaults.errors(error);
      },
    });
    const session = connect(`http://127.0.0.1:${port}`);
    const stream = session.request({ ":method": "POST", ":path": "/v1/kinds", ...json });
    stream.write("{");
    await begun;
    stream.close(constants.NGHTTP2_CANCEL);
    await Promise.all(handled);
    session.destroy();
    expect(renderings).toBe(0);
  });

  test("a stream that is reset while the implementation runs aborts its signal", async () => {
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const implementation = {
      getBook: async (_: unknown, { signal }: { signal: AbortSignal }) => {
        const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
        begin();
        await aborted;
        return {};
      },
    };
    const { port, handled } = await startHttp2Server({ services: [{ service: LibraryService, implementation }] });
    const session = connect(`http://127.0.0.1:${port}`);
    const stream = session.request({ ":path": "/v1/books/x" });
    await begun;
    stream.close(constants.NGHTTP2_CANCEL);
    await Promise.all(handled);
    session.destroy();
    expect(handled).toHaveLength(1);
  });

  test("an answer that cannot be sent at all resets its stream with INTERNAL_ERROR", async () => {
    const { port } = await startHttp2Server({ responseHeaders: { "no name": "x" } });
    const session = connect(`http://127.0.0.1:${port}`);
    const stream = session.request({ ":path": "/nothing" });
    const failure = await new Promise<Error>((resolve) => stream.on("error", resolve));
    session.destroy();
    expect(failure.message).toBe("Stream closed with error code NGHTTP2_INTERNAL_ERROR");
  });
});
