import { execFile } from "node:child_process";
import { request } from "node:http";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { openProcessFixture, type ProcessFixture } from "../support/process-fixture.js";
import { registration } from "../support/registration.js";
import { type CompiledService, compileService, type ServiceProcess } from "../support/service-process.js";
import { closedStreams, openUnread, pipelined, type UnreadRequest } from "./unread-requests.js";

const AT_ONCE = 100;
const MAX_MIB = 300;
/**
 * Number of requests from another client during the attack. Between two of them the process reads 64 KiB of each
 * connection, so after these it has read everything.
 */
const ROUNDS = 30;
const BASE = "/api/external/v1";
const LIST = "/cupo.clinic.v1.PatientDirectoryService/ListPatients";
const FEED = "/cupo.clinic.v1.EventService/WatchEvents";
const feedHeaders = { "content-type": "application/connect+json" };
/** An enveloped message: a byte of flags, and the length in four bytes. */
const feedBody = `\0\0\0\0\u0012${JSON.stringify({ start: "OLDEST" })}`;
const json = { "content-type": "application/json" };
const file: UnreadRequest = { path: "/docs/swagger-ui.js" };
const document: UnreadRequest = { path: `${BASE}/openapi.json` };
const run = promisify(execFile);

let compiled: CompiledService;
let database: TestDatabase;
let fixture: ProcessFixture;
let service: ServiceProcess;
let token: string;

beforeAll(async () => {
  [compiled, database] = await Promise.all([compileService(), createTestDatabase()]);
  fixture = await openProcessFixture(database);
});

beforeEach(async () => {
  service = await compiled.start(fixture.environment);
  const clinic = fixture.serviceAt(() => service);
  token = await clinic.token();
  const registered = Array.from({ length: 20 }, () => clinic.request("POST", "/patients", { body: registration() }));
  expect((await Promise.all(registered)).map(({ status }) => status)).toEqual(Array(20).fill(201));
});

afterEach(() => service.kill());

afterAll(async () => {
  compiled.stopAll();
  await fixture.close();
  await database.drop();
});

interface Attack {
  readonly name: string;
  readonly url: () => string;
  readonly connections: number;
  readonly bytes: () => Buffer;
}

const ofPublic = () => service.publicUrl;
const ofInternal = () => service.internalUrl;
const streams = (asked: UnreadRequest) => () => closedStreams(AT_ONCE, asked);
const attacks: readonly Attack[] = [
  { name: "streams for a file", url: ofPublic, connections: 100, bytes: streams(file) },
  {
    name: "streams for a compressed file",
    url: ofPublic,
    connections: 20,
    bytes: streams({ ...file, headers: { "accept-encoding": "gzip" } }),
  },
  { name: "streams for the OpenAPI document", url: ofPublic, connections: 20, bytes: streams(document) },
  {
    name: "streams with long headers for nothing",
    url: ofPublic,
    connections: 120,
    bytes: streams({ path: "/nothing", headers: { "x-long": "a".repeat(15_000) } }),
  },
  { name: "pipelined requests for a file", url: ofPublic, connections: 20, bytes: () => pipelined(AT_ONCE, file) },
  {
    name: "calls over RPC without a token",
    url: ofInternal,
    connections: 20,
    bytes: streams({ path: LIST, headers: json, body: "{}" }),
  },
  {
    name: "pages of a list over RPC",
    url: ofInternal,
    connections: 20,
    bytes: () =>
      closedStreams(AT_ONCE, { path: LIST, headers: { ...json, authorization: `Bearer ${token}` }, body: "{}" }),
  },
  {
    name: "streams of the change feed",
    url: ofInternal,
    connections: 20,
    bytes: () =>
      closedStreams(AT_ONCE, {
        path: FEED,
        headers: { ...feedHeaders, authorization: `Bearer ${token}` },
        body: feedBody,
      }),
  },
  { name: "pages of metrics", url: ofInternal, connections: 20, bytes: streams({ path: "/metrics" }) },
];

test.each(attacks)(
  `unread answers on $connections connections ($name) leave the process below ${MAX_MIB} MiB and do not block other clients`,
  async ({ url, connections, bytes }) => {
    const close = await openUnread(url(), connections, bytes());
    const held: number[] = [];
    await eventually(async () => {
      const status = await statusFromElsewhere(`${service.publicUrl}/problems/validation`);
      held.push(await residentMiB(service.pid));
      return status === 200 && held.length >= ROUNDS;
    });
    close();
    expect(Math.max(...held)).toBeLessThan(MAX_MIB);
  },
);

/** Returns the status of an answer to another address, over a new connection. */
function statusFromElsewhere(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { localAddress: "127.0.0.2", agent: false }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode));
    });
    sent.once("error", reject).end();
  });
}

async function residentMiB(pid: number): Promise<number> {
  const { stdout } = await run("ps", ["-o", "rss=", "-p", String(pid)]);
  return Number(stdout) / 1024;
}
