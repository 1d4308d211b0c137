import { setImmediate } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CupoError } from "../../src/errors.js";
import { createStopping, type Stopping, streamLife } from "../../src/interceptors/stream-life.js";
import { principalWith, refusal } from "./run-interceptor.js";
import { listed, openStream, received, streamRequestOf, watchEvents } from "./run-stream.js";

const [first, second] = ["1", "2"].map((cursor) => create(watchEvents.output, { cursor }));
if (first === undefined || second === undefined) throw new Error("no messages");

const rejected = new CupoError("INVALID_ACCESS_TOKEN");

let stopping: Stopping;
let signals: AbortSignal[];
let verified: number;
/** The number of verifications that accept the token. */
let accepted: number;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  stopping = createStopping();
  signals = [];
  verified = 0;
  accepted = Number.POSITIVE_INFINITY;
});

afterEach(() => {
  vi.useRealTimers();
});

test("an open stream passes its messages, and verifies the token before each", async () => {
  expect(await received(await open(() => listed([first, second])))).toEqual([first, second]);
  expect(verified).toBe(2);
  expectClosed();
});

test("a stream sends no message after its token has become invalid", async () => {
  accepted = 1;
  const messages = await open(() => listed([first, second]));
  const iterator = messages[Symbol.asyncIterator]();
  expect(await iterator.next()).toEqual({ done: false, value: first });
  expect(await refusal(iterator.next())).toBe(rejected);
  expectClosed();
});

test("a stream that waits for a message ends within a second after its token has become invalid", async () => {
  accepted = 1;
  const ended = refusal(received(await open(silent)));
  await vi.advanceTimersByTimeAsync(1_000);
  expect([verified, vi.getTimerCount()]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await ended).toBe(rejected);
  expectClosed();
});

test("a stream that waits for a message ends when the service stops", async () => {
  const ended = refusal(received(await open(silent)));
  stopping.stop();
  expect((await ended).code).toBe("SERVICE_UNAVAILABLE");
  expectClosed();
});

test("a stream ends even if the service stops between two messages", async () => {
  const messages = await open(async function* () {
    yield first;
    yield* silent();
  });
  const iterator = messages[Symbol.asyncIterator]();
  await iterator.next();
  stopping.stop();
  expect((await refusal(iterator.next())).code).toBe("SERVICE_UNAVAILABLE");
  expectClosed();
});

test.each([
  ["canceled if the caller disconnects", new Error("gone"), Code.Canceled],
  ["the reason, if Connect ends it", new ConnectError("too late", Code.DeadlineExceeded), Code.DeadlineExceeded],
])("the error of a stream is %s", async (_, reason, code) => {
  const caller = new AbortController();
  const ended = received(await open(silent, caller.signal));
  caller.abort(reason);
  await expect(ended).rejects.toMatchObject({ code });
  expectClosed();
});

test("a stream ends with the error of its operation", async () => {
  const thrown = new CupoError("RESOURCE_NOT_FOUND");
  const messages = await open(async function* () {
    yield first;
    throw thrown;
  });
  expect(await refusal(received(messages))).toBe(thrown);
  expectClosed();
});

test("a stream that cannot be opened leaves nothing behind", async () => {
  const thrown = new CupoError("RESOURCE_NOT_FOUND");
  expect(await refusal(open(() => Promise.reject(thrown)))).toBe(thrown);
  expectClosed();
});

test("a stream that its reader leaves ends the operation", async () => {
  const ended: string[] = [];
  const messages = await open(async function* () {
    try {
      yield* [first, second];
    } finally {
      ended.push("operation");
    }
  });
  for await (const message of messages) {
    expect(message).toBe(first);
    break;
  }
  await setImmediate();
  expect(ended).toEqual(["operation"]);
  expectClosed();
});

test("a message opens no stream, and answers none", async () => {
  const stage = streamLife(verify, stopping.signal)(watchEvents);
  const response = { stream: false } as unknown as Awaited<ReturnType<Parameters<NonNullable<typeof stage>>[0]>>;
  const answered = stage?.(async () => response);
  await expect(answered?.({ ...streamRequestOf(), stream: false } as never)).rejects.toThrow("called by a message");
  await expect(answered?.(streamRequestOf())).rejects.toThrow("answered by a message");
  expect(vi.getTimerCount()).toBe(0);
});

async function verify() {
  verified += 1;
  if (verified > accepted) throw rejected;
  return principalWith();
}

function open(answer: Parameters<typeof openStream>[2], signal = new AbortController().signal) {
  return openStream(streamLife(verify, stopping.signal), streamRequestOf({ signal }), (request) => {
    signals.push(request.signal);
    return answer(request);
  });
}

/** A stream without messages that does not end. */
function silent(): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) };
}

function expectClosed(): void {
  expect([vi.getTimerCount(), signals.map(({ aborted }) => aborted)]).toEqual([0, [true]]);
}
