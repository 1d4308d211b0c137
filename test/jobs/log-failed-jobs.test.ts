import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { DatabaseError } from "pg";
import pino from "pino";
import { afterEach, expect, inject, test, vi } from "vitest";
import { logFailedJobs } from "../../src/jobs/log-failed-jobs.js";
import { openJobQueuePool } from "../../src/postgres/job-queue-pool.js";
import { withDatabase } from "../support/database.js";

function logged(error: unknown): Record<string, unknown> {
  const lines: string[] = [];
  logFailedJobs(pino({}, { write: (line) => void lines.push(line) }))(error);
  return JSON.parse(lines.join(""));
}

/** Returns the error of the queue's pool for a URL and a statement. */
async function failureOf(url: string, statement = "SELECT"): Promise<unknown> {
  const pool = openJobQueuePool({ url, maxConnections: 1, onIdleError: () => undefined });
  const failure = await pool.query(statement).catch((error: unknown) => error);
  await pool.end();
  return failure;
}

const serverUrl = () => inject("testServer").adminUrl;

afterEach(() => void vi.useRealTimers());

test.each<[string, () => Promise<unknown>, string, string]>([
  [
    "nothing listens at the address",
    () => failureOf("postgres://cupo@127.0.0.1:1/cupo"),
    "the database cannot be reached, is starting or stopping, or is out of disk space or memory (ECONNREFUSED)",
    "ECONNREFUSED",
  ],
  [
    "the database does not exist",
    () => failureOf(withDatabase(serverUrl(), "nowhere")),
    "the database does not exist (3D000)",
    "3D000",
  ],
  [
    "pg_hba.conf does not allow the connection",
    async () => Object.assign(new DatabaseError("no pg_hba.conf entry", 20, "error"), { code: "28000" }),
    "the database rejects the role or its password, or pg_hba.conf does not allow the connection (28000)",
    "28000",
  ],
  [
    "a statement fails with a value in its message",
    () => failureOf(serverUrl(), "SELECT 'Ana'::integer"),
    "a job or the queue failed (22P02)",
    "22P02",
  ],
  [
    "an error of the queue has another one as its cause",
    async () => new Error("Cron hit an error", { cause: await failureOf(serverUrl(), "SELECT 'Ana'::integer") }),
    "a job or the queue failed (22P02)",
    "22P02",
  ],
])("the log line of failed jobs has the reason and its code if %s", async (_, fail, reason, code) => {
  const line = logged(await fail());
  expect(line).toMatchObject({
    msg: `background jobs failed and will be repeated: ${reason}`,
    component: "job queue",
    cause: { code },
  });
  expect(JSON.stringify(line)).not.toContain("Ana");
});

test("the log line of failed jobs says that the database cannot be reached if it accepts connections and is silent", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const failure = failureOf(`postgres://cupo@127.0.0.1:${port}/cupo`);
  await once(server, "connection");
  vi.runAllTimers();
  expect(logged(await failure)["msg"]).toMatch(/: the database cannot be reached, [^()]*$/);
  server.close();
});
