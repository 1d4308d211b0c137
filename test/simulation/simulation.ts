import * as fc from "fast-check";
import type { TestService } from "../support/service.js";
import {
  bookings,
  bookingsAt,
  cancellations,
  confirmations,
  moves,
  overbookings,
  searches,
  searchesElsewhere,
} from "./booking-steps.js";
import { look, looks } from "./look.js";
import { blockCancellations, blocks, hours, materializations, ruleChanges } from "./schedule-steps.js";
import type { Step } from "./step.js";
import { openWorld, PATIENTS } from "./world.js";

/** How long, and which. The same seed gives the same commands. */
export interface SimulationTerms {
  readonly seed: number;
  /** How many commands are done at least, in as many runs as that takes. */
  readonly commands: number;
  /** False ends with the first difference as it was found, which is sooner. */
  readonly isShrunk?: boolean;
}

/** How many commands a run has at most; they are half as many on average. */
const RUN = 120;
/** How many runs fast-check makes before it forgets them. */
const BATCH = 5;

/** What is done, each as often as it is named. */
const COMMANDS = [
  searches,
  searchesElsewhere,
  searchesElsewhere,
  bookings,
  bookings,
  moves,
  moves,
  bookingsAt,
  bookingsAt,
  overbookings,
  confirmations,
  cancellations,
  cancellations,
  materializations,
  ruleChanges,
  blocks,
  blockCancellations,
  hours,
  looks,
];

/**
 * Does the same to the service and to the model of a clinic, command after command, and requires each answer and now and then the
 * whole state to be the model's: in many runs, a clinic each, the schedules made at first. Where they differ, it rejects with
 * the fewest commands for which they do, and the seed that leads there at once. Gives the number of commands done.
 */
export async function simulate(
  service: TestService,
  { seed, commands, isShrunk = true }: SimulationTerms,
): Promise<number> {
  const progress = { done: 0 };
  const run = fc.asyncProperty(
    fc.commands(COMMANDS, { maxCommands: RUN, size: "max" }),
    fc.nat({ max: PATIENTS - 1 }),
    async (chosen, patient) => {
      const world = await openWorld(service);
      await fc.asyncModelRun(() => world, counted(chosen, progress));
      await look(world.model, world.real, { patient });
    },
  );
  for (let batch = 0; progress.done < commands; batch++) {
    await fc.assert(run, { seed: seed + batch, numRuns: BATCH, endOnFailure: !isShrunk });
  }
  return progress.done;
}

function* counted(chosen: Iterable<Step>, progress: { done: number }): Generator<Step> {
  for (const command of chosen) {
    progress.done += 1;
    yield command;
  }
}
