import type { Transaction } from "../../src/call.js";
import { previewSlots, type SlotChanges } from "../../src/postgres/tables/schedule/schedule-preview.js";
import { localDateAt } from "../../src/scheduling/local-clock.js";

const obstacles = {
  blocks: [],
  inactivePrograms: [],
  programsAtInactiveLocations: [],
  inactivePractitioners: [],
  holidays: [],
};

/** Compares the slots of a program on the local date of `start` with a plan that has no slots. */
export function compareDay(transaction: Transaction, programId: string, start: Date): Promise<SlotChanges> {
  const date = localDateAt(start.getTime());
  const nothing = { programIds: [programId], practitionerId: undefined, staff: [], runs: [], obstacles };
  const plan = { ...nothing, from: date, through: date };
  const now = new Date(start.getTime() - 1);
  return previewSlots({ ...transaction, send: () => undefined }, plan, now, { limit: 0 });
}
