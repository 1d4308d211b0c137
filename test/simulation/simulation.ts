import * as fc from "fast-check";
import { openServiceDatabase } from "../support/open-service-database.js";
import type { TestService } from "../support/service.js";
import {
  bookings,
  bookingsAt,
  cancellations,
  confirmations,
  lateEntries,
  moves,
  overbookings,
  searches,
  searchesElsewhere,
} from "./booking-steps.js";
import { durations, undoings } from "./correction-steps.js";
import { holdings, releases } from "./hold-steps.js";
import { look, looks } from "./look.js";
import { offers, waits } from "./offer-steps.js";
import { blockCancellations, blocks, hours, materializations, ruleChanges } from "./schedule-steps.js";
import { groupBookings, seriesBookings, seriesCancellations, seriesMoves, swaps } from "./series-steps.js";
import type { Step } from "./step.js";
import { openWorld, PATIENTS } from "./world.js";

/** The length and the seed of a simulation. The same seed gives the same commands. */
export interface SimulationOptions {
  readonly seed: number;
  /** The smallest number of commands to run, over as many runs as necessary. */
  readonly commands: number;
  /** Whether to search for the shortest failing sequence. False rejects with the first one found, which is faster. */
  readonly isShrunk?: boolean;
}

/** The largest number of commands in a run. The average is half of it. */
const RUN = 120;
/** Number of runs in one call of fast-check, which keeps them all in memory. */
const BATCH = 5;

/** The commands to choose from. A command that is listed twice is chosen twice as often. */
const COMMANDS = [
  searches,
  searchesElsewhere,
  searchesElsewhere,
  bookings,
  bookings,
  moves,
  moves,
  holdings,
  holdings,
  holdings,
  releases,
  waits,
  offers,
  offers,
  bookingsAt,
  bookingsAt,
  overbookings,
  lateEntries,
  lateEntries,
  seriesBookings,
  seriesBookings,
  seriesBookings,
  seriesMoves,
  seriesMoves,
  seriesCancellations,
  seriesCancellations,
  groupBookings,
  groupBookings,
  swaps,
  swaps,
  confirmations,
  cancellations,
  cancellations,
  undoings,
  undoings,
  durations,
  durations,
  materializations,
  ruleChanges,
  blocks,
  blockCancellations,
  hours,
  looks,
];

/**
 * Runs random commands against the service and against the model of a clinic, and compares every answer. A `look`
 * command and the end of each run compare the whole state. Each run has a clinic of its own, without slots at first.
 *
 * Returns the number of commands run. At a difference it rejects with the shortest sequence of commands that causes it,
 * and with the seed that repeats it.
 */
export async function simulate(
  service: TestService,
  { seed, commands, isShrunk = true }: SimulationOptions,
): Promise<number> {
  const progress = { done: 0 };
  const database = openServiceDatabase(service.databaseUrl);
  const run = fc.asyncProperty(
    fc.commands(COMMANDS, { maxCommands: RUN, size: "max" }),
    fc.nat({ max: PATIENTS - 1 }),
    async (chosen, patient) => {
      const world = await openWorld(service, database);
      await fc.asyncModelRun(() => world, counted(chosen, progress));
      await look(world.model, world.real, { patient });
    },
  );
  try {
    for (let batch = 0; progress.done < commands; batch++) {
      await fc.assert(run, { seed: seed + batch, numRuns: BATCH, endOnFailure: !isShrunk });
    }
  } finally {
    await database.close();
  }
  return progress.done;
}

function* counted(chosen: Iterable<Step>, progress: { done: number }): Generator<Step> {
  for (const command of chosen) {
    progress.done += 1;
    yield command;
  }
}
