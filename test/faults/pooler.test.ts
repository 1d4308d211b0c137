import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { countDeadlocks, detectDeadlocksEarly } from "../schedule/deadlocks.js";
import { runStorm } from "../schedule/storm.js";
import { createStormFixture } from "../schedule/storm-fixture.js";
import { recordStorm } from "../schedule/storm-record.js";
import { startTwinProcesses, type TwinProcesses } from "../schedule/twin-processes.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { isPgbouncerThere, type Pgbouncer, startPgbouncer } from "../support/pgbouncer.js";
import { registration } from "../support/registration.js";

const STORM_MS = Number(process.env["STORM_SECONDS"] || 5) * 1_000;
const SLACK_MS = 120_000;

const reason = isPgbouncerThere ? "" : " (PgBouncer is not installed: Debian's package pgbouncer)";

describe.skipIf(!isPgbouncerThere)(`behind PgBouncer in transaction mode${reason}`, () => {
  let database: TestDatabase;
  let pooler: Pgbouncer;
  let twins: TwinProcesses;

  beforeAll(async () => {
    database = await createTestDatabase();
    await detectDeadlocksEarly(database.adminUrl);
    pooler = await startPgbouncer([database.url, database.ownerUrl]);
    twins = await startTwinProcesses({
      ...database,
      url: pooler.urlOf(database.url),
      ownerUrl: pooler.urlOf(database.ownerUrl),
    });
  }, SLACK_MS);

  afterAll(async () => {
    await twins.close();
    await pooler.stop();
    await database.drop();
  }, SLACK_MS);

  test("detects lost named statements and stops using them, without failing a call", async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const token = await twins.both[0].token({ client: `client-${index}` });
        return twins.both[(index % 2) as 0 | 1].request("POST", "/patients", { token, body: registration() });
      }),
    );
    expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
  });

  test(
    "a storm over two processes breaks nothing and causes no server error, and each process logs the loss at most once",
    async () => {
      const [service] = twins.both;
      const fixture = await createStormFixture(service);
      const record = recordStorm(twins);
      const end = performance.now() + STORM_MS;
      await runStorm({ ...record, fixture, service, days: 3, choices: 20, isOver: () => performance.now() > end });
      await record.look();
      expect({ broken: [...record.broken], serverErrors: record.serverErrors }).toEqual({
        broken: [],
        serverErrors: [],
      });
      const said = twins.both.map(({ log }) =>
        log.filter(({ msg }) => String(msg).startsWith("a named prepared statement was lost")),
      );
      expect(said.flat().length).toBeGreaterThan(0);
      expect(said.filter(({ length }) => length > 1)).toEqual([]);
      expect(await twins.stop()).toEqual([0, 0]);
      await pooler.stop();
      expect(await countDeadlocks(database.adminUrl)).toBe(0);
    },
    STORM_MS + SLACK_MS,
  );
});
