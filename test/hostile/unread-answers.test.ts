import { readFile, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { openProcessFixture, type ProcessFixture } from "../support/process-fixture.js";
import { registration } from "../support/registration.js";
import { type CompiledService, compileService, type ServiceProcess } from "../support/service-process.js";
import {
  closedStreams,
  openSlow,
  openSlowSessions,
  openUnread,
  pipelined,
  type SlowClients,
  type UnreadRequest,
} from "./unread-requests.js";

const AT_ONCE = 100;
const MAX_MIB = 300;
/**
 * Memory that may remain after an attack, above the memory before it. Free pieces between live objects remain with the
 * allocators of V8 and C. A retained answer costs 16 KiB or more. An address may have 2,000 unread answers. If half of
 * them were retained, they would exceed this.
 */
const MAX_KEPT_MIB = 40;
/**
 * The same for long headers. The C allocator keeps the freed headers, up to 110 MiB, and uses them for later requests:
 * a second attack adds nothing, a third 17 MiB.
 */
const MAX_KEPT_OF_HEADERS_MIB = 150;
/** Number of connections that together have more unread answers than an address may have. */
const FEW = 40;
/** Number of connections of each attack if all happen at once. Each attack still reaches the limits alone. */
const CONNECTIONS_OF_EACH = 20;
/**
 * Number of requests from another client during the attack. Between two of them the process reads 64 KiB of each
 * connection, so after these it has read everything.
 */
const ROUNDS = 30;
/** 40,000 requests take up to a minute on a busy machine. */
const ATTACK_MS = 300_000;
/**
 * Collects the garbage of the process at a signal, so that the test does not wait for V8. An idle process collects it
 * after one to two minutes.
 */
const COLLECT = [
  'import{setFlagsFromString}from"node:v8"',
  'import{runInNewContext}from"node:vm"',
  'setFlagsFromString("--expose-gc")',
  'const/**/collect=runInNewContext("gc")',
  'process.on("SIGUSR2",()=>collect())',
].join(";");
const COLLECTING = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(COLLECT)}` };
const BASE = "/api/external/v1";
const LIST = "/cupo.clinic.v1.PatientDirectoryService/ListPatients";
const FEED = "/cupo.clinic.v1.EventService/WatchEvents";
const feedHeaders = { "content-type": "application/connect+json" };
/** An enveloped message: a byte of flags, and the length in four bytes. */
const feedBody = `\0\0\0\0\u0012${JSON.stringify({ start: "OLDEST" })}`;
const json = { "content-type": "application/json" };
const page: UnreadRequest = { path: "/docs" };
/** The largest answer of the public listener that needs no token. */
const document: UnreadRequest = { path: `${BASE}/openapi.json` };
const compressed = { ...document, headers: { "accept-encoding": "gzip" } };
const nothing: UnreadRequest = { path: "/nothing" };

/** Sets the VmHWM of a process to its VmRSS (proc_pid_clear_refs(5)). */
const RESET_PEAK = "5";

let compiled: CompiledService;
let database: TestDatabase;
let fixture: ProcessFixture;
let service: ServiceProcess;
let token: string;

beforeAll(async () => {
  [compiled, database] = await Promise.all([compileService(), createTestDatabase()]);
  fixture = await openProcessFixture(database);
});

afterAll(async () => {
  compiled.stopAll();
  await fixture.close();
  await database.drop();
});

interface Attack {
  readonly name: string;
  readonly url: () => string;
  readonly connections: number;
  readonly asked: () => UnreadRequest;
  /** Returns the bytes of many such requests. */
  readonly bytes: (count: number, asked: UnreadRequest) => Buffer;
  /** The status of the answer to one request. */
  readonly status: number;
}

const streams = { bytes: closedStreams, connections: FEW, status: 200 };
const ofPublic = { ...streams, url: () => service.publicUrl };
const ofInternal = { ...streams, url: () => service.internalUrl };
const withToken = (headers: UnreadRequest["headers"]) => ({ ...headers, authorization: `Bearer ${token}` });
const longHeaders: Attack = {
  ...ofPublic,
  name: "streams with long headers for nothing",
  connections: 120,
  asked: () => ({ ...nothing, headers: { "x-long": "a".repeat(15_000) } }),
  status: 404,
};
const plainAttacks: readonly Attack[] = [
  { ...ofPublic, name: "streams for the reference page", connections: 100, asked: () => page },
  { ...ofPublic, name: "streams for the OpenAPI document", asked: () => document },
  { ...ofPublic, name: "streams for the compressed OpenAPI document", asked: () => compressed },
  { ...ofPublic, name: "streams for nothing", connections: 400, asked: () => nothing, status: 404 },
  {
    ...ofPublic,
    name: "pipelined requests for the OpenAPI document",
    connections: 100,
    asked: () => document,
    bytes: pipelined,
  },
  {
    ...ofPublic,
    name: "pipelined requests for the compressed OpenAPI document",
    asked: () => compressed,
    bytes: pipelined,
  },
  { ...ofInternal, name: "streams for the largest reference page", asked: () => page },
  {
    ...ofInternal,
    name: "calls over RPC without a token",
    asked: () => ({ path: LIST, headers: json, body: "{}" }),
    status: 401,
  },
  {
    ...ofInternal,
    name: "pages of a list over RPC",
    connections: 20,
    asked: () => ({ path: LIST, headers: withToken(json), body: "{}" }),
  },
  {
    ...ofInternal,
    name: "streams of the change feed",
    connections: 20,
    asked: () => ({ path: FEED, headers: withToken(feedHeaders), body: feedBody }),
  },
  { ...ofInternal, name: "pages of metrics", connections: 20, asked: () => ({ path: "/metrics" }) },
];
const attacks: readonly Attack[] = [...plainAttacks, longHeaders];

describe(`unread answers leave the process below ${MAX_MIB} MiB and do not block other clients:`, () => {
  describe("attacks one after another", () => {
    startForAll();

    test.each(plainAttacks)(
      "$name on $connections connections",
      (attack) => expectGivenBack(MAX_KEPT_MIB, () => attackWith([attack], attack.connections)),
      ATTACK_MS,
    );

    test(
      "answers that are read at a few bytes a second, which end",
      () =>
        expectGivenBack(MAX_KEPT_MIB, async () => {
          const slow = await openSlowClients();
          await askFromElsewhere(ROUNDS);
          for (const { open: left } of slow) expect(left()).toBeGreaterThan(0);
          await eventually(() => slow.every(({ open: left }) => left() === 0));
          return () => slow.forEach(({ close }) => close());
        }),
      ATTACK_MS,
    );
  });

  describe("long headers", () => {
    startForAll();

    test(
      "streams with long headers",
      () => expectGivenBack(MAX_KEPT_OF_HEADERS_MIB, () => attackWith([longHeaders], longHeaders.connections)),
      ATTACK_MS,
    );
  });

  describe("attacks at the same time", () => {
    startForAll();

    test(
      "all attacks",
      () => expectGivenBack(MAX_KEPT_OF_HEADERS_MIB, () => attackWith(attacks, CONNECTIONS_OF_EACH)),
      ATTACK_MS,
    );
  });
});

/** Starts a process for the tests of a group, with 20 patients. */
function startForAll(): void {
  beforeAll(async () => {
    service = await compiled.start({ ...fixture.environment, ...COLLECTING });
    const clinic = fixture.serviceAt(() => service);
    token = await clinic.token();
    const registered = Array.from({ length: 20 }, () => clinic.request("POST", "/patients", { body: registration() }));
    expect((await Promise.all(registered)).map(({ status }) => status)).toEqual(Array(20).fill(201));
  });
  afterAll(() => service.kill());
}

/** Opens the connections of attacks, then asks from another address. Returns the function that closes them. */
async function attackWith(chosen: readonly Attack[], connections: number): Promise<() => void> {
  const closing: (() => void)[] = [];
  for (const attack of chosen) closing.push(await open(attack, connections));
  await askFromElsewhere(ROUNDS);
  return () => closing.forEach((close) => close());
}

/** Opens slow clients: of HTTP/1.1 at one listener, of HTTP/2 at the other. At one, they would share a limit. */
async function openSlowClients(): Promise<SlowClients[]> {
  const http1 = await openSlow(service.publicUrl, 40, pipelined(AT_ONCE, { path: "/docs" }));
  return [http1, openSlowSessions(service.internalUrl, 40, AT_ONCE, "/docs")];
}

/**
 * Expects that an attack does not take too much memory, and that the process keeps at most `keptMiB` of it when the
 * connections have ended. `attack` returns the function that ends them. The memory before it includes the content of
 * the pages, which the process keeps.
 */
async function expectGivenBack(keptMiB: number, attack: () => Promise<() => void>): Promise<void> {
  for (const { url, asked, status, name } of attacks) {
    expect([name, await statusFromElsewhere(url(), asked())]).toEqual([name, status]);
  }
  const before = await leastMiB();
  await writeFile(`/proc/${service.pid}/clear_refs`, RESET_PEAK);
  const close = await attack();
  close();
  expect(await memoryMiB("VmHWM")).toBeLessThan(MAX_MIB);
  await eventually(async () => (await leastMiB()) < before + keptMiB);
}

function open({ url, asked, bytes }: Attack, connections: number): Promise<() => void> {
  return openUnread(url(), connections, bytes(AT_ONCE, asked()));
}

async function askFromElsewhere(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    expect(await statusFromElsewhere(service.publicUrl, { path: "/problems/validation" })).toBe(200);
  }
}

/** Returns the status of an answer to another address, over a new connection. Does not wait for the body. */
function statusFromElsewhere(url: string, { path, headers = {}, body }: UnreadRequest): Promise<number | undefined> {
  const method = body === undefined ? "GET" : "POST";
  return new Promise((resolve, reject) => {
    const options = { method, headers, localAddress: "127.0.0.2", agent: false };
    const sent = request(`${url}${path}`, options, (response) => {
      resolve(response.statusCode);
      response.destroy();
    });
    sent.once("error", reject).end(body);
  });
}

/** Asks the process to collect its garbage and returns its memory. */
async function leastMiB(): Promise<number> {
  process.kill(service.pid, "SIGUSR2");
  expect(await statusFromElsewhere(service.internalUrl, { path: "/livez" })).toBe(200);
  return memoryMiB("VmRSS");
}

/** Returns the resident memory of the process: now (VmRSS), or the most since the start of the attack (VmHWM). */
async function memoryMiB(field: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await readFile(`/proc/${service.pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
}
