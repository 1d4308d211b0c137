import { describe, expect, test } from "vitest";
import { restService } from "../../src/routes/rest-service.js";
import { LibraryService } from "../gen/library/v1/library_pb.js";
import { call } from "../support/call-handler.js";
import { makeService } from "../support/make-service.js";
import { mediaOptions } from "../support/media-service.js";
import { answers, streams } from "./responses.js";

const protojson = { profile: "protojson" } as const;

describe("a stream", () => {
  test.each(streams)("of %j", async (titles, ndjson, sse) => {
    const url = `/v1/books:watch?${titles.map((title) => `titles=${title}`).join("&")}`;
    const shown = (body: string) =>
      body.replace(/BOOK\((\w*)\)/g, '{"name":"","title":"$1","genre":"GENRE_UNSPECIFIED","tags":[]}');
    expect((await call({ ...mediaOptions, streamFormat: "ndjson" }, "GET", url)).text).toBe(shown(ndjson));
    expect((await call({ ...mediaOptions, streamFormat: "sse" }, "GET", url)).text).toBe(shown(sse));
  });
});

describe("an answer", () => {
  test.each(answers)("to %s that is only %s is %s", async (body, responseBody, answer) => {
    const services = [makeService({ name: "Echo", rule: "POST /a", body: "*", responseBody })];
    const answered = call({ services, ...protojson }, "POST", "/a", { body });
    if (answer === "refused") await expect(answered).rejects.toThrow("has no field");
    else expect((await answered).text).toBe(answer);
  });

  test("writes names of enumeration values and fields with default values, whatever is asked for", async () => {
    const services = [restService(LibraryService, { getBook: ({ name }) => ({ name, genre: 1 }) })];
    const { text } = await call({ services, ...protojson }, "GET", "/v1/books/x?$alt=json%3Benum-encoding%3Dint");
    expect(text).toBe('{"name":"x","title":"","genre":"NOVEL","tags":[]}');
  });

  test("that is an error is a problem document", async () => {
    const services = [restService(LibraryService, {})];
    expect((await call({ services, ...protojson }, "GET", "/v1/books/x")).headers["content-type"]).toBe(
      "application/problem+json",
    );
  });

  test("that has no extensions does not take them in requests either", async () => {
    const services = [makeService({ name: "Echo", rule: "POST /a", body: "*" })];
    expect((await call({ services, ...protojson }, "POST", "/a", { body: '{"[a.b]":1}' })).status).toBe(400);
  });
});
