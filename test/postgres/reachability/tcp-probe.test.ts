import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { probeServer } from "../../../src/postgres/reachability/tcp-probe.js";
import { createTestDatabase, type TestDatabase } from "../../support/database.js";
import { freePort } from "../../support/free-port.js";

const LONG_MS = 60_000;
const SHORT_MS = 50;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

test("PostgreSQL counts as reachable", async () => {
  const { hostname, port } = new URL(database.url);
  expect(await probeServer({ host: hostname, port: Number(port) }, LONG_MS)).toBe(true);
});

test("a server that refuses connections counts as reachable", async () => {
  expect(await probeServer({ host: "127.0.0.1", port: await freePort() }, LONG_MS)).toBe(true);
});

test("a server that closes the connection counts as reachable", async () => {
  await withServer(
    (socket) => socket.end(),
    async (port) => expect(await probeServer({ host: "127.0.0.1", port }, LONG_MS)).toBe(true),
  );
});

test("a server that accepts a connection and sends nothing counts as unreachable", async () => {
  await withServer(
    () => undefined,
    async (port) => expect(await probeServer({ host: "127.0.0.1", port }, SHORT_MS)).toBe(false),
  );
});

async function withServer(take: (socket: Socket) => void, use: (port: number) => Promise<void>): Promise<void> {
  const server: Server = createServer((socket) => take(socket.on("error", () => undefined)));
  await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
}
