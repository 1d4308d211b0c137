import { describe, expect, test } from "vitest";
import { createRestHandler } from "../src/handler.js";
import { restService } from "../src/routes/rest-service.js";
import { MediaService } from "./gen/library/v1/media_pb.js";
import { call } from "./support/call-handler.js";
import { mediaOptions as options } from "./support/media-service.js";

describe("a google.api.HttpBody in a request", () => {
  test("is the body as it is, in the field that is the body", async () => {
    const init = { headers: { "Content-Type": "image/png" }, body: new Uint8Array([0, 255, 10]) };
    const { text } = await call(options, "POST", "/v1/media/x:upload?draft=true", init);
    expect(JSON.parse(text)).toEqual({ name: "x", contentType: "image/png", size: "3", draft: true });
  });

  test.each([
    ["without a Content-Type", {}, "", ""],
    ["of another charset", { "content-type": "text/plain; charset=latin1" }, "a", "text/plain; charset=latin1"],
    ["of JSON, which is not read", { "content-type": "application/json" }, "{,", "application/json"],
  ])("may be one %s", async (_, headers, body, contentType) => {
    const { status, text } = await call(options, "POST", "/v1/media/x:upload", { headers, body });
    expect([status, JSON.parse(text)]).toMatchObject([200, { contentType, size: String(body.length) }]);
  });

  test.each([
    ["Content-Encoding", ["content-encoding", "gzip"]],
    ["second Content-Type", ["content-type", "a/b", "content-type", "c/d"]],
  ])("cannot have a %s", async (_, rawHeaders) => {
    const answer = await createRestHandler(options).handle({
      method: "POST",
      url: "/v1/raw",
      rawHeaders,
      signal: new AbortController().signal,
      readBody: () => Promise.resolve(new Uint8Array()),
      isGone: () => false,
    });
    expect(answer?.status).toBe(415);
  });

  test("has the limit of every body", async () => {
    const limits: number[] = [];
    await createRestHandler({ ...options, maxBodyBytes: 77 }).handle({
      method: "POST",
      url: "/v1/raw",
      rawHeaders: [],
      signal: new AbortController().signal,
      readBody: (maxBytes) => {
        limits.push(maxBytes);
        return Promise.resolve(new Uint8Array());
      },
      isGone: () => false,
    });
    expect(limits).toEqual([77]);
  });
});

describe("a google.api.HttpBody in an answer", () => {
  test("is the body as it is, with its media type", async () => {
    const init = { headers: { "Content-Type": "image/svg+xml" }, body: "<svg/>" };
    const { status, headers, text } = await call(options, "POST", "/v1/raw", init);
    expect([status, headers["content-type"], text]).toEqual([200, "image/svg+xml", "<svg/>"]);
  });

  test("may be the field that is the answer", async () => {
    const { headers, text } = await call(options, "GET", "/v1/media/x:download");
    expect([headers["content-type"], text]).toEqual(["text/plain", "the file x"]);
  });

  test("without a media type, or absent, is application/octet-stream", async () => {
    const raw = await call(options, "POST", "/v1/raw", { headers: {}, body: "a" });
    expect([raw.headers["content-type"], raw.text]).toEqual(["application/octet-stream", "a"]);
    const absent = await call(options, "GET", "/v1/media/nothing:download");
    expect([absent.headers["content-type"], absent.text]).toEqual(["application/octet-stream", ""]);
  });

  test("whose media type is no header value is an error", async () => {
    const service = restService(MediaService, { echoRaw: () => ({ contentType: "a/b\r\nx-evil: 1" }) });
    const { status, headers } = await call({ services: [service] }, "POST", "/v1/raw", { headers: {}, body: "" });
    expect([status, headers["content-type"]]).toEqual([500, "application/problem+json"]);
  });

  test("in a stream is one body, whose media type is that of the first message", async () => {
    const { status, headers, text } = await call(options, "GET", "/v1/media/song:play");
    expect([status, headers["content-type"], text]).toEqual([200, "audio/ogg", "first,song"]);
  });

  test("in a stream that fails breaks off", async () => {
    await expect(call(options, "GET", "/v1/media/broken:play")).rejects.toThrow("the disc has a scratch");
  });
});
