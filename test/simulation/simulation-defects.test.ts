import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startTestService, type TestService } from "../support/service.js";
import { simulate } from "./simulation.js";
import { type Defect, seedDefect } from "./simulation-defects.js";

vi.mock("../../src/postgres/tables/appointments/day-counters.js", async (original) =>
  (await import("./simulation-defects.js")).withKeptCapacity(await original()),
);
vi.mock("../../src/services/resources/preconditions.js", async (original) =>
  (await import("./simulation-defects.js")).withOldVersions(await original()),
);
vi.mock("../../src/scheduling/slots.js", async (original) =>
  (await import("./simulation-defects.js")).withShortDays(await original()),
);
vi.mock("../../src/scheduling/waiting-order.js", async (original) =>
  (await import("./simulation-defects.js")).withReversedOffers(await original()),
);
vi.mock("../../src/postgres/tables/appointments/consumed-tokens.js", async (original) =>
  (await import("./simulation-defects.js")).withLastingTokens(await original()),
);
vi.mock("../../src/postgres/tables/schedule/schedule-blocks.js", async (original) =>
  (await import("./simulation-defects.js")).withForgottenBlocks(await original()),
);
vi.mock("../../src/services/series/series-appointments.js", async (original) =>
  (await import("./simulation-defects.js")).withWholeSeries(await original()),
);

const SEED = 20_261_118;
/** Enough commands to detect each defect. */
const COMMANDS = 2_000;
const SLACK_MS = 300_000;

/** Proves that the simulation detects differences between the service and the model. */
describe("the simulation", () => {
  let service: TestService;

  beforeAll(async () => {
    service = await startTestService({}, { logger: pino({ level: "silent" }) });
  }, SLACK_MS);

  afterAll(async () => {
    seedDefect(undefined);
    await service.close();
  }, SLACK_MS);

  test.each<[what: string, defect: Defect]>([
    ["capacity that a cancellation does not restore", "CAPACITY_KEPT"],
    ["capacity that the release of a hold does not restore", "HELD_UNIT_KEPT"],
    ["a change with an old version that is accepted", "OLD_VERSION_TAKEN"],
    ["a day without its last slot", "SLOT_SHORT"],
    ["an offer to the last entry of the waitlist", "LAST_OFFERED_FIRST"],
    ["a token that is used twice", "TOKEN_NOT_USED_UP"],
    ["a series that changes before the appointment of the request", "SERIES_CHANGED_WHOLE"],
    ["a block of a program that is ignored", "PROGRAM_BLOCK_FORGOTTEN"],
  ])(
    "detects %s",
    async (_, defect) => {
      seedDefect(defect);
      const run = simulate(service, { seed: SEED, commands: COMMANDS, isShrunk: false });
      await expect(run).rejects.toThrow(/^Property failed/);
    },
    SLACK_MS,
  );

  test(
    "reports the shortest sequence of commands and its seed",
    async () => {
      seedDefect("SLOT_SHORT");
      const failure = await simulate(service, { seed: SEED, commands: COMMANDS }).catch(String);
      expect(failure).toMatch(new RegExp(`seed: ${SEED}\\b`));
      expect(failure).toMatch(/Counterexample: \[materialize {"program":\d} /);
    },
    SLACK_MS,
  );
});
