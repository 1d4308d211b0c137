import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { defaultLimits, type ListenLimits } from "../../src/http/limits.js";
import type { Listener } from "../../src/http/listen.js";
import { type AnswerAccount, UnreadAnswers } from "../../src/http/unread-answers.js";
import { eventually } from "../support/eventually.js";
import { connectRaw } from "./raw-client.js";
import { answer, type Request, type Response, startListener, testTls } from "./start-listener.js";

const KIB = 1024;
/** More than the buffers of a loopback connection hold. */
const LONG = "a".repeat(32 * KIB * KIB);
const get = "GET /long HTTP/1.1\r\nHost: a\r\n\r\n";
const soon: Partial<ListenLimits> = { unreadMs: 300, unreadGraceMs: 100 };
/** Far more milliseconds than a test takes. */
const LATER_MS = 600_000;

describe.each([{ tls: false }, { tls: true }])("an answer that its client does not read (TLS $tls)", ({ tls }) => {
  test("is reset on HTTP/2 in spite of PINGs, and the session continues", async () => {
    const session = connectHttp2(await startListener({ tls, handler, limits: soon }), 0);
    const ping = () => session.closed || session.destroyed || session.ping(() => ping());
    session.once("connect", ping);
    const stream = await endOfUnread(session, "/short");
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
    session.settings({ initialWindowSize: 65_535 });
    expect(await text(session.request({ ":path": "/short" }))).toBe("short");
  });

  test("is reset on HTTP/2 if the client reads it byte by byte", async () => {
    const session = connectHttp2(await startListener({ tls, handler, limits: soon }), 0);
    let window = 0;
    const trickle = setInterval(() => session.destroyed || session.settings({ initialWindowSize: ++window }), 10);
    onTestFinished(() => clearInterval(trickle));
    const stream = await endOfUnread(session, "/trickle");
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
  });

  test("closes its connection on HTTP/1.1", async () => {
    const listener = await startListener({ tls, handler, limits: soon });
    const client = await connectRaw(listener);
    client.socket.pause();
    await client.send(get);
    expect(await listener.close(LATER_MS)).toEqual({ forced: 0 });
  });

  test("ends its session if the client reads nothing at all", async () => {
    const listener = await startListener({ tls, handler, limits: soon });
    const client = await connectRaw(listener, ["h2"]);
    client.socket.pause();
    await client.send(Buffer.concat([largeWindows, getLong]));
    expect(await listener.close(LATER_MS)).toEqual({ forced: 0 });
  });
});

describe("requests of a client with too many unread answers", () => {
  test("are refused with REFUSED_STREAM on HTTP/2 until earlier answers are read", async () => {
    const refused = vi.fn();
    const limits = { maxUnreadBytesOfConnection: 40 * KIB };
    const session = connectHttp2(await startListener({ handler, limits, refused }), 0);
    const held = Array.from({ length: 3 }, () => session.request({ ":path": "/short" }));
    await Promise.all(held.map((stream) => once(stream, "response")));
    const more = await endOfUnread(session, "/short");
    expect(more.rstCode).toBe(constants.NGHTTP2_REFUSED_STREAM);
    expect(refused.mock.calls).toEqual([["maxUnreadBytes"]]);
    session.settings({ initialWindowSize: 65_535 });
    expect(await Promise.all(held.map((stream) => text(stream)))).toEqual(["short", "short", "short"]);
    expect(await text(session.request({ ":path": "/short" }))).toBe("short");
  });

  test("get 503 on HTTP/1.1, without affecting other addresses", async () => {
    const listener = await startListener({ handler, limits: { maxUnreadBytesOfNetwork: 40 * KIB } });
    const greedy = await connectRaw(listener);
    greedy.socket.pause();
    await greedy.send(get);
    await eventually(async () => (await statusOf(listener, "127.0.0.1")) === "503");
    expect(await statusOf(listener, "127.0.0.2")).toBe("200");
  });

  test("have only the limit of the listener if one address may use all connections, like a proxy", async () => {
    const limits = { maxUnreadBytesOfNetwork: 40 * KIB, maxConnections: 100, maxConnectionsPerNetwork: 100 };
    const listener = await startListener({ handler, limits });
    const slow = await connectRaw(listener);
    slow.socket.pause();
    const begun = once(slow.socket, "readable");
    await slow.send(get);
    await begun;
    expect(await statusOf(listener, "127.0.0.1")).toBe("200");
  });

  test("wait on HTTP/1.1 until earlier answers are read, and no more requests are read meanwhile", async () => {
    const pending: Response[] = [];
    const limits = { maxPipelinedAtWork: 2, maxPipelinedRequests: 30 };
    const listener = await startListener({ handler: (_req, res) => void pending.push(res), limits });
    const client = await connectRaw(listener);
    await client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n".repeat(20));
    await eventually(() => pending.length === 2);
    await client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n".repeat(20));
    for (let answered = 0; answered < 40; answered++) {
      await eventually(() => pending.length > answered);
      expect(pending.length).toBeLessThanOrEqual(answered + 2);
      const res = pending[answered];
      if (res !== undefined) answer(res, `answer ${answered}.`);
    }
    expect(await client.until("answer 39.")).toMatch(/answer 0\..*answer 1\..*answer 20\./s);
  });
});

describe("the unread answers of a connection", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const limits: ListenLimits = {
    ...defaultLimits,
    maxUnreadBytesOfConnection: 20,
    maxUnreadBytesOfNetwork: 30,
    maxUnreadBytes: 40,
  };
  const other = () => ({ cut: vi.fn() });
  const open = (unread: UnreadAnswers, network = "a", cutConnection = vi.fn()) =>
    unread.accountOf({ network, cutConnection });

  test("are cancelled after 30 s without progress", () => {
    const account = open(new UnreadAnswers(limits));
    const [still, moving] = [other(), other()];
    for (const each of [still, moving]) account.hold(each, 1);
    vi.advanceTimersByTime(20_000);
    account.release(moving);
    account.hold(moving, 1);
    vi.advanceTimersByTime(9_000);
    expect(still.cut).not.toHaveBeenCalled();
    vi.advanceTimersByTime(2_000);
    expect(still.cut.mock.calls).toEqual([["cancelled"]]);
    expect(moving.cut).not.toHaveBeenCalled();
    vi.advanceTimersByTime(20_000);
    expect(moving.cut).toHaveBeenCalledTimes(1);
  });

  test("destroy the connection if they remain after the cancellation", () => {
    const [stuck, well] = [vi.fn(), vi.fn()];
    const unread = new UnreadAnswers(limits);
    const [ofStuck, ofWell] = [open(unread, "a", stuck), open(unread, "a", well)];
    ofStuck.hold(other(), 1);
    const gone = { cut: () => ofWell.release(gone) };
    ofWell.hold(gone, 1);
    vi.advanceTimersByTime(35_000);
    expect(stuck).toHaveBeenCalledTimes(1);
    expect(well).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("do not make the listener reject other addresses, even if one address exceeds its limit", () => {
    const unread = new UnreadAnswers(limits);
    const [greedy, elsewhere] = [open(unread, "a"), open(unread, "b")];
    const answers = [other(), other()];
    for (const each of answers) greedy.hold(each, 50);
    expect([greedy.admits(), elsewhere.admits()]).toEqual([false, true]);
    elsewhere.hold(other(), 10);
    expect(open(unread, "c").admits()).toBe(false);
    for (const each of answers) greedy.release(each);
    elsewhere.hold(other(), 19);
    expect([greedy.admits(), open(unread, "c").admits()]).toEqual([true, true]);
  });

  test.each<[string, (unread: UnreadAnswers) => AnswerAccount[]]>([
    ["a connection", (unread) => Array(4).fill(open(unread)) as AnswerAccount[]],
    ["an address", (unread) => Array.from({ length: 4 }, () => open(unread))],
    ["a listener", (unread) => Array.from({ length: 4 }, (_, i) => open(unread, `${i}`))],
  ])(
    "above the limit of %s reject requests, and are cancelled after two seconds without progress to admit one",
    (_, accountsOf) => {
      const accounts = accountsOf(new UnreadAnswers(limits));
      const answers = accounts.map((account) => {
        const held = other();
        account.hold(held, 10);
        return held;
      });
      expect(accounts.map((account) => account.admits())).toEqual([false, false, false, false]);
      vi.advanceTimersByTime(1_900);
      expect(accounts.at(-1)?.admits()).toBe(false);
      vi.advanceTimersByTime(200);
      expect(accounts.at(-1)?.admits()).toBe(true);
      expect(answers[0]?.cut).toHaveBeenCalledTimes(1);
      expect(answers.at(-1)?.cut).not.toHaveBeenCalled();
    },
  );
});

/** The start of an HTTP/2 session with windows that are never exhausted. */
const largeWindows = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0x7f, 0xff, 0xff, 0xff]),
  Buffer.from([0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7f, 0xff, 0, 0]),
]);
/** The HEADERS frame of a complete request: `GET http://a/long`. */
const getLong = Buffer.concat([
  Buffer.from([0, 0, 12, 1, 5, 0, 0, 0, 1, 0x82, 0x86, 0x41, 1, 0x61, 0x04, 5]),
  Buffer.from("/long"),
]);

function handler(req: Request, res: Response): void {
  answer(res, req.url === "/long" ? LONG : req.url === "/trickle" ? LONG.slice(0, 2 * KIB) : "short");
}

function connectHttp2({ url }: Listener, initialWindowSize: number): ClientHttp2Session {
  const session = connect(url, { ca: testTls.cert, settings: { initialWindowSize } });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** Sends a request without reading the answer. Resolves when the stream is closed. */
async function endOfUnread(session: ClientHttp2Session, path: string): Promise<ClientHttp2Stream> {
  const stream = session.request({ ":path": path }).on("error", () => {});
  await new Promise((resolve) => stream.once("close", resolve));
  return stream;
}

async function statusOf(listener: Listener, localAddress: string): Promise<string | undefined> {
  const client = await connectRaw(listener, undefined, localAddress);
  await client.send("GET /short HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const [, status] = /^HTTP\/1\.1 (\d+)/.exec(await client.untilClosed()) ?? [];
  client.socket.destroy();
  return status;
}
