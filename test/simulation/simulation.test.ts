import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../support/service.js";
import { simulate } from "./simulation.js";

/** How many commands are done at least; SIMULATION_COMMANDS makes them more, and SIMULATION_SEED gives the same ones again. */
const COMMANDS = Number(process.env["SIMULATION_COMMANDS"] || 200);
const SEED = Number(process.env["SIMULATION_SEED"] || 20_261_118);
const SLACK_MS = 120_000;
const COMMAND_MS = 100;

let service: TestService;

beforeAll(async () => {
  service = await startTestService({}, { logger: pino({ level: "silent" }) });
}, SLACK_MS);

afterAll(() => service.close(), SLACK_MS);

test(
  "whatever is booked, moved, called off, blocked and changed, the service answers and holds what a model of it does",
  async () => {
    expect(await simulate(service, { seed: SEED, commands: COMMANDS })).toBeGreaterThanOrEqual(COMMANDS);
  },
  SLACK_MS + COMMANDS * COMMAND_MS,
);
