import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../support/service.js";
import { simulate } from "./simulation.js";

/**
 * The smallest number of commands to run. SIMULATION_COMMANDS changes it, SIMULATION_SEED selects another sequence of
 * commands.
 */
const COMMANDS = Number(process.env["SIMULATION_COMMANDS"] || 200);
const SEED = Number(process.env["SIMULATION_SEED"] || 20_261_118);
/** The search for the shortest sequence of a longer simulation would take too long. It reports the first one found. */
const SHRUNK = 1_000;
const SLACK_MS = 120_000;
const COMMAND_MS = 100;

let service: TestService;

beforeAll(async () => {
  service = await startTestService({}, { logger: pino({ level: "silent" }) });
}, SLACK_MS);

afterAll(() => service.close(), SLACK_MS);

test(
  "answers as the model of the specification does, for random bookings, moves, cancellations, blocks and rule changes",
  async () => {
    expect(
      await simulate(service, { seed: SEED, commands: COMMANDS, isShrunk: COMMANDS <= SHRUNK }),
    ).toBeGreaterThanOrEqual(COMMANDS);
  },
  SLACK_MS + COMMANDS * COMMAND_MS,
);
