import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { Code, type Transport } from "@connectrpc/connect";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { conflict } from "../../src/errors.js";
import { deferred } from "../support/deferred.js";
import { eventually } from "../support/eventually.js";
import { rpcFormats, sendCall } from "../support/raw-rpc.js";
import { transports } from "../support/rpc-clients.js";
import type { TestService } from "../support/service.js";
import {
  all,
  count,
  failure,
  next,
  type OnWatch,
  type Opening,
  type OpenStream,
  openStream,
  problemOf,
  read,
  SCOPE,
  startTreeService,
  TreeService,
  wait,
  watch,
} from "./streamed-trees.js";

/** The stream's implementation, which each test sets. */
let onWatch: OnWatch = count;
/** So long that the compression takes longer than a caller needs to abort. */
const LARGE = "a".repeat(8_000_000);
let service: TestService;

beforeAll(async () => {
  service = await startTreeService(() => onWatch);
});

afterAll(() => service.close());

afterEach(() => {
  onWatch = count;
});

describe.each(Object.entries(transports))("a stream over %s", (_, createTransport) => {
  let transport: Transport;

  beforeAll(() => {
    transport = createTransport(service.internalUrl);
  });

  const open = (plain: string, changes: Opening = {}) => openStream(service, transport, plain, changes);

  test("returns its messages and ends", async () => {
    const { trees, headers } = await open("3");
    expect(await all(trees)).toEqual([{ plain: "1" }, { plain: "2" }, { plain: "3" }]);
    expect(headers.get("ratelimit")).toMatch(/^"second";r=\d+/);
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("returns nothing if there is nothing", async () => {
    const { trees } = await open("0");
    expect(await all(trees)).toEqual([]);
  });

  test("sends each message at once, not only at the end", async () => {
    const second = deferred();
    onWatch = async function* () {
      yield { plain: "first" };
      await second.promise;
      yield { plain: "second" };
    };
    const { trees } = await open("");
    expect(await next(trees)).toEqual({ plain: "first" });
    second.resolve();
    expect(await all(trees)).toEqual([{ plain: "second" }]);
  });

  test("shows in each message what the scopes allow, at any depth", async () => {
    onWatch = async function* () {
      yield { plain: "a", secret: "s" };
      yield { child: { plain: "b", secret: "s" } };
    };
    const { trees } = await open("", { as: { scopes: [SCOPE] } });
    expect(await all(trees)).toEqual([{ plain: "a" }, { child: { plain: "b" } }]);
  });

  describe("that is rejected has a Problem, and its implementation is not called", () => {
    test.each<[number, Code, string, Opening]>([
      [400, Code.InvalidArgument, "1", { headers: { "x-correlation-id": "none" } }],
      [401, Code.Unauthenticated, "1", { headers: { authorization: "Bearer none" } }],
      [403, Code.PermissionDenied, "1", { as: { scopes: [] } }],
      [422, Code.InvalidArgument, "a\0", {}],
      [422, Code.InvalidArgument, "a".repeat(41), {}],
    ])("%i", async (status, code, plain, opening) => {
      let asked = false;
      onWatch = (text) => {
        asked = true;
        return count(text);
      };
      const error = await failure(all((await open(plain, opening)).trees));
      expect([error.code, problemOf(error)["status"]]).toEqual([code, status]);
      expect(asked).toBe(false);
    });
  });

  test("that fails later has its Problem after the sent messages", async () => {
    onWatch = async function* () {
      yield { plain: "first" };
      throw conflict({ code: "STATE_NOT_ALLOWED", field: "cursor", message: "the cursor is of another time" });
    };
    const { trees } = await open("");
    expect(await next(trees)).toEqual({ plain: "first" });
    const error = await failure(next(trees));
    expect(error.code).toBe(Code.FailedPrecondition);
    expect(problemOf(error)).toMatchObject({ status: 409, errors: [{ code: "STATE_NOT_ALLOWED" }] });
  });

  test("that fails with an internal error reports no details to the caller, and logs the cause", async () => {
    onWatch = () => {
      throw new Error("hostile-marker");
    };
    const error = await failure(all((await open("")).trees));
    expect(error.code).toBe(Code.Internal);
    expect(JSON.stringify([error.message, problemOf(error)])).not.toContain("hostile-marker");
    const correlationId = problemOf(error)["correlationId"];
    const lines = service.log.filter((line) => line["correlationId"] === correlationId);
    expect(lines).toContainEqual(expect.objectContaining({ msg: "call failed", code: "INTERNAL_ERROR" }));
    expect(JSON.stringify(lines)).not.toContain("hostile-marker");
  });

  test("aborts its implementation when the caller aborts", async () => {
    const ended = deferred();
    onWatch = wait(() => ended.resolve());
    const leaving = new AbortController();
    const { trees } = await open("", { signal: leaving.signal });
    expect(await next(trees)).toEqual({ plain: "open" });
    const before = service.log.length;
    leaving.abort();
    expect((await failure(next(trees))).code).toBe(Code.Canceled);
    await ended.promise;
    await eventually(() => service.log.length > before);
    expect(service.log.slice(before)).toEqual([expect.objectContaining({ operation: "test.TreeService/Watch" })]);
    expect(service.log.at(-1)).not.toHaveProperty("code");
  });

  test("aborts its implementation when the caller aborts while the first message is compressed", async () => {
    const ended = deferred();
    const leaving = new AbortController();
    onWatch = async function* () {
      try {
        leaving.abort();
        yield { plain: LARGE };
      } finally {
        ended.resolve();
      }
    };
    const answer = open("", { signal: leaving.signal }).then(({ trees }) => all(trees));
    expect((await failure(answer)).code).toBe(Code.Canceled);
    await ended.promise;
  });

  test("ends at the caller's deadline, even if the implementation does not", async () => {
    onWatch = async function* () {
      yield { plain: "open" };
      await new Promise(() => undefined);
    };
    const openWithin = async (timeoutMs: number): Promise<OpenStream["trees"]> => {
      const { trees } = await open("", { timeoutMs });
      const first = await next(trees).catch(() => "too late");
      return first === "too late" ? openWithin(4 * timeoutMs) : trees;
    };
    expect((await failure(next(await openWithin(500)))).code).toBe(Code.DeadlineExceeded);
  });
});

describe.each(Object.entries(transports))("an open stream over %s", (_, createTransport) => {
  const openForAMinute = async () =>
    (
      await openStream(service, createTransport(service.internalUrl), "", {
        as: { client: randomUUID(), expiresInSeconds: 60 },
      })
    ).trees;

  test("ends with 401 when its access token expires, and sends nothing afterwards", async () => {
    const later = deferred();
    onWatch = async function* () {
      yield { plain: "open" };
      await later.promise;
      yield { plain: "too late" };
    };
    const trees = await openForAMinute();
    expect(await next(trees)).toEqual({ plain: "open" });
    service.advance(60_000);
    later.resolve();
    const error = await failure(next(trees));
    expect([error.code, problemOf(error)["code"]]).toEqual([Code.Unauthenticated, "INVALID_ACCESS_TOKEN"]);
  });

  test("ends with 401 soon after that, even without messages", async () => {
    onWatch = wait();
    const trees = await openForAMinute();
    expect(await next(trees)).toEqual({ plain: "open" });
    service.advance(60_000);
    expect((await failure(next(trees))).code).toBe(Code.Unauthenticated);
  });

  test("ends with 503 when the service stops, which does not wait for anything else", async () => {
    const own = await startTreeService(() => onWatch);
    const transport = createTransport(own.internalUrl);
    onWatch = wait();
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => void warnings.push(name);
    process.on("warning", onWarning);
    const open = await Promise.all(Array.from({ length: 12 }, () => openStream(own, transport, "")));
    for (const { trees } of open) expect(await next(trees)).toEqual({ plain: "open" });
    const failures = open.map(({ trees }) => failure(next(trees)));
    await own.close();
    for (const error of await Promise.all(failures)) {
      expect([error.code, problemOf(error)["code"]]).toEqual([Code.Unavailable, "SERVICE_UNAVAILABLE"]);
    }
    expect(
      own.log.filter(
        ({ msg }) => msg === "connections were closed with requests in flight, because the grace period ended",
      ),
    ).toEqual([]);
    process.off("warning", onWarning);
    expect(warnings).not.toContain("MaxListenersExceededWarning");
  });
});

describe("streams have a limit of their own:", () => {
  test("a principal can have as many as the setting says, and one that ended is free again", async () => {
    await withService({ STREAMS_PER_PRINCIPAL: "1", WAIT_SECONDS: "1" }, async (own) => {
      const transport = transports["gRPC, HTTP/2"](own.internalUrl);
      onWatch = wait();
      const leaving = new AbortController();
      const first = await openStream(own, transport, "", { signal: leaving.signal });
      expect(await next(first.trees)).toEqual({ plain: "open" });
      const error = await failure(all((await openStream(own, transport, "")).trees));
      expect([error.code, problemOf(error)["status"]]).toEqual([Code.ResourceExhausted, 429]);
      const other = await openStream(own, transport, "", { as: { client: "other" } });
      expect(await next(other.trees)).toEqual({ plain: "open" });
      leaving.abort();
      await failure(next(first.trees));
      expect(await next((await openStream(own, transport, "")).trees)).toEqual({ plain: "open" });
    });
  });

  test("a tenant too, whatever principals open them", async () => {
    await withService({ STREAMS_PER_TENANT: "1", WAIT_SECONDS: "1" }, async (own) => {
      const transport = transports["gRPC, HTTP/2"](own.internalUrl);
      onWatch = wait();
      expect(await next((await openStream(own, transport, "")).trees)).toEqual({ plain: "open" });
      const second = await openStream(own, transport, "", { as: { client: "other" } });
      const error = await failure(all(second.trees));
      expect([error.code, problemOf(error)["status"]]).toEqual([Code.Unavailable, 503]);
      expect(problemOf(error)["errors"]).toEqual([expect.objectContaining({ code: "BUSY", field: "" })]);
      const elsewhere = await openStream(own, transport, "", { as: { tenantId: crypto.randomUUID() } });
      expect(await next(elsewhere.trees)).toEqual({ plain: "open" });
    });
  });

  test("open ones do not use the permits of unary calls", async () => {
    await withService({ CALLS_PER_PRINCIPAL: "1", CALLS_PER_TENANT: "1" }, async (own) => {
      const transport = transports["gRPC, HTTP/2"](own.internalUrl);
      onWatch = wait();
      for (let n = 0; n < 3; n++) {
        expect(await next((await openStream(own, transport, "")).trees)).toEqual({ plain: "open" });
      }
      const headers = { authorization: `Bearer ${await own.token({ scopes: [SCOPE] })}`, "idempotency-key": "key" };
      const answer = await transport.unary(read, undefined, undefined, headers, create(read.input));
      expect(answer.message).toEqual(create(read.output));
    });
  });
});

test.each([
  ["application/json", "Connect, JSON, HTTP/1.1"],
  ["application/proto", "Connect, binary, HTTP/1.1"],
  ["application/grpc+json", "gRPC, HTTP/2"],
])("415 with the supported media types for %s", async (contentType, name) => {
  const format = rpcFormats[name];
  if (format === undefined) throw new Error(name);
  const path = `/${TreeService.typeName}/${watch.name}`;
  const headers = { "content-type": contentType };
  const outcome = await sendCall(service.internalUrl, format, { path, headers, body: Buffer.alloc(0) });
  const served = "application/connect+json, application/connect+proto, application/grpc, application/grpc-web";
  expect([outcome.status, outcome.headers.get("accept-post")]).toEqual([415, served]);
});

async function withService(
  environment: Record<string, string>,
  work: (own: TestService) => Promise<void>,
): Promise<void> {
  const own = await startTreeService(() => onWatch, environment);
  try {
    await work(own);
  } finally {
    await own.close();
  }
}
