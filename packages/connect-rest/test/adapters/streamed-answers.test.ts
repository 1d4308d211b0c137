import { once } from "node:events";
import { request as sendRequest } from "node:http";
import { connect as connectHttp2, constants } from "node:http2";
import { describe, expect, test } from "vitest";
import { fetchHandler } from "../../src/fetch/fetch-handler.js";
import type { RestHandler } from "../../src/handler.js";
import type { RestBody, RestRequest } from "../../src/rest-message.js";
import { adapters } from "../support/adapters.js";

/** A caller who reads an answer chunk by chunk. */
interface Reader {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Returns undefined at the end. Rejects when the answer breaks off. */
  read(): Promise<Uint8Array | undefined>;
  leave(): void;
}

const text = new TextDecoder();
const bytes = (chunk: string) => new TextEncoder().encode(chunk);

const end: IteratorReturnResult<undefined> = { value: undefined, done: true };
const unread = () => Promise.reject(new Error("nobody reads"));

/** Returns a body whose iterator has these functions. */
function source(next: () => Promise<IteratorResult<Uint8Array>>, onReturn: () => void): AsyncIterable<Uint8Array> {
  const finish = () => {
    onReturn();
    return Promise.resolve(end);
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: finish }) };
}

/** Returns a handler that answers each request with this body. */
function answering(body: (request: RestRequest) => RestBody, status = 200): RestHandler {
  return {
    routes: [],
    maxBodyBytes: 100,
    lastResort: { status: 500, headers: {}, body: "" },
    hasPath: () => true,
    handle: (request) =>
      Promise.resolve({
        status,
        headers: { "content-type": "application/x-ndjson", "content-length": "3" },
        body: body(request),
      }),
  };
}

describe.each(Object.keys(adapters))("%s", (name) => {
  test("sends each chunk before the next one is made, and ends", async () => {
    const read = deferred();
    const rest = answering(async function* () {
      yield bytes("one\n");
      await read.promise;
      yield bytes("");
      yield bytes("two\n");
    });
    const reader = await open(name, rest);
    expect(reader.status).toBe(200);
    expect(reader.headers).toMatchObject({ "content-type": "application/x-ndjson" });
    expect(reader.headers).not.toHaveProperty("content-length");
    expect(text.decode(await reader.read())).toBe("one\n");
    read.resolve();
    expect(await readRest(reader)).toBe("two\n");
  });

  test("sends the head before there is a chunk", async () => {
    const seen = deferred();
    const rest = answering(async function* () {
      await seen.promise;
      yield bytes("late");
    });
    const reader = await open(name, rest);
    seen.resolve();
    expect(await readRest(reader)).toBe("late");
  });

  test("makes no more chunks than the caller takes, and ends the source when the caller leaves", async () => {
    const ended = deferred();
    let made = 0;
    const rest = answering(async function* () {
      try {
        for (; made < 2000; made++) yield new Uint8Array(65_536);
      } finally {
        ended.resolve();
      }
    });
    const reader = await open(name, rest);
    await reader.read();
    await untilSteady(() => made);
    expect(made).toBeLessThan(500);
    reader.leave();
    await ended.promise;
  });

  test("aborts the signal and ends the source when the caller leaves between two chunks", async () => {
    const aborted = deferred();
    const ended = deferred<IteratorResult<Uint8Array>>();
    const rest = answering(({ signal }) => {
      signal.addEventListener("abort", () => aborted.resolve());
      const chunks = [bytes("one")];
      const next = (): Promise<IteratorResult<Uint8Array>> => {
        const value = chunks.pop();
        return value === undefined ? ended.promise : Promise.resolve({ value });
      };
      return source(next, () => ended.resolve(end));
    });
    const reader = await open(name, rest);
    await reader.read();
    reader.leave();
    await Promise.all([aborted.promise, ended.promise]);
  });

  test("breaks the answer off when the source fails, and reports the failure", async () => {
    const failures: unknown[] = [];
    const failure = new Error("the source failed");
    const rest = answering(async function* () {
      yield bytes("one");
      throw failure;
    });
    const reader = await open(name, rest, (error) => failures.push(error));
    await expect(readRest(reader)).rejects.toThrow();
    expect(failures).toEqual([failure]);
  });

  test.each([
    ["HEAD", 200],
    ["GET", 204],
  ])("ends the source without a chunk for %s with %i", async (method, status) => {
    const ended = deferred();
    const rest = answering(() => source(unread, ended.resolve), status);
    const { send } = await serve(name, rest);
    expect(await send(method, "/x")).toMatchObject({ status, text: "" });
    await ended.promise;
  });

  test("ends the source of an answer whose head is invalid", async () => {
    const ended = deferred();
    const body = source(unread, ended.resolve);
    const failures: unknown[] = [];
    const rest = { ...answering(() => ""), handle: () => Promise.resolve({ status: 4000, headers: {}, body }) };
    const { send } = await serve(name, rest, (error) => failures.push(error));
    expect(await send("GET", "/x")).toMatchObject({ status: 500, text: "" });
    await ended.promise;
    expect(failures).toEqual([expect.any(RangeError)]);
  });
});

function serve(name: string, rest: RestHandler, onFailure: (error: unknown) => void = () => {}) {
  const adapter = adapters[name];
  if (adapter === undefined) throw new Error(`${name} is no adapter`);
  return adapter(rest, { onFailure });
}

async function open(name: string, rest: RestHandler, onFailure?: (error: unknown) => void): Promise<Reader> {
  if (name === "Fetch") return openFetch(rest, onFailure);
  const { port = 0 } = await serve(name, rest, onFailure);
  return name === "node:http2" ? openHttp2(port) : openHttp1(port);
}

async function openFetch(rest: RestHandler, onFailure: (error: unknown) => void = () => {}): Promise<Reader> {
  const { status, headers, body } = await fetchHandler(rest, { onFailure })(new Request("http://x/"));
  const reader = body?.getReader();
  if (reader === undefined) throw new Error("the answer has no body");
  return {
    status,
    headers: Object.fromEntries(headers),
    read: async () => (await reader.read()).value,
    leave: () => void reader.cancel(),
  };
}

function openHttp1(port: number): Promise<Reader> {
  return new Promise((resolve, reject) => {
    const request = sendRequest({ port, agent: false }, (response) => {
      const chunks = response[Symbol.asyncIterator]();
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        read: async () => (await chunks.next()).value,
        leave: () => response.destroy(),
      });
    });
    request.on("error", reject).end();
  });
}

async function openHttp2(port: number): Promise<Reader> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  const stream = session.request({ ":path": "/" });
  stream.on("close", () => session.destroy());
  const [headers] = await once(stream, "response");
  const chunks = stream[Symbol.asyncIterator]();
  return {
    status: Number(headers[":status"]),
    headers,
    read: async () => (await chunks.next()).value,
    leave: () => stream.close(constants.NGHTTP2_CANCEL),
  };
}

async function readRest(reader: Reader): Promise<string> {
  const chunks: Uint8Array[] = [];
  for (let chunk = await reader.read(); chunk !== undefined; chunk = await reader.read()) chunks.push(chunk);
  return text.decode(Buffer.concat(chunks));
}

/** Resolves when a number has been the same for a hundred turns of the event loop. */
async function untilSteady(count: () => number): Promise<void> {
  for (let last = count(), turns = 0; turns < 100; turns++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (count() === last) continue;
    last = count();
    turns = 0;
  }
}

function deferred<T = void>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve: (value: T) => resolve(value) };
}
