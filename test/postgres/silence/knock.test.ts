import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { knock } from "../../../src/postgres/silence/knock.js";
import { createTestDatabase, type TestDatabase } from "../../support/database.js";
import { freePort } from "../../support/free-port.js";

const LONG_MS = 60_000;
const SHORT_MS = 50;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

test("PostgreSQL is heard", async () => {
  const { hostname, port } = new URL(database.url);
  expect(await knock({ host: hostname, port: Number(port) }, LONG_MS)).toBe(true);
});

test("who takes no connections is heard", async () => {
  expect(await knock({ host: "127.0.0.1", port: await freePort() }, LONG_MS)).toBe(true);
});

test("who ends the connection is heard", async () => {
  await withServer(
    (socket) => socket.end(),
    async (port) => expect(await knock({ host: "127.0.0.1", port }, LONG_MS)).toBe(true),
  );
});

test("who takes a connection and says nothing is not", async () => {
  await withServer(
    () => undefined,
    async (port) => expect(await knock({ host: "127.0.0.1", port }, SHORT_MS)).toBe(false),
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
