import type * as tokens from "../../src/postgres/tables/appointments/consumed-tokens.js";
import type * as counters from "../../src/postgres/tables/appointments/day-counters.js";
import type * as blocks from "../../src/postgres/tables/schedule/schedule-blocks.js";
import type * as slots from "../../src/scheduling/slots.js";
import type * as offers from "../../src/scheduling/waiting-order.js";
import type * as preconditions from "../../src/services/resources/preconditions.js";
import type * as series from "../../src/services/series/series-appointments.js";

/** A defect that a test can seed into the service. Each is a plausible mistake. */
export type Defect =
  /** A cancellation does not restore the daily capacity. */
  | "CAPACITY_KEPT"
  /** The release of a hold does not restore the daily capacity. */
  | "HELD_UNIT_KEPT"
  /** A change with an old version is accepted. */
  | "OLD_VERSION_TAKEN"
  /** The last slot of each day is missing. */
  | "SLOT_SHORT"
  /** The last entry of the waitlist is offered a freed slot first. */
  | "LAST_OFFERED_FIRST"
  /** An option token can be used again. */
  | "TOKEN_NOT_USED_UP"
  /** A change of a series from one appointment on changes the earlier ones too. */
  | "SERIES_CHANGED_WHOLE"
  /** Blocks of a program are ignored. Blocks of a practitioner work. */
  | "PROGRAM_BLOCK_FORGOTTEN";

let seeded: Defect | undefined;

/** Activates a defect in the mocked modules. Undefined deactivates it. */
export function seedDefect(defect: Defect | undefined): void {
  seeded = defect;
}

export function withKeptCapacity(sound: typeof counters): typeof counters {
  return {
    ...sound,
    giveCapacityBack: (...all) => (seeded === "CAPACITY_KEPT" ? undefined : sound.giveCapacityBack(...all)),
    dropHeldCapacity: (...all) => (seeded === "HELD_UNIT_KEPT" ? undefined : sound.dropHeldCapacity(...all)),
  };
}

export function withOldVersions(sound: typeof preconditions): typeof preconditions {
  return {
    ...sound,
    requireVersion(resource, expectedVersion, field) {
      const isLate = seeded === "OLD_VERSION_TAKEN" && expectedVersion < resource.version;
      if (!isLate) sound.requireVersion(resource, expectedVersion, field);
    },
  };
}

export function withReversedOffers(sound: typeof offers): typeof offers {
  return {
    ...sound,
    waitingOrder(date) {
      const order = sound.waitingOrder(date);
      return (one, other) => (seeded === "LAST_OFFERED_FIRST" ? order(other, one) : order(one, other));
    },
  };
}

export function withShortDays(sound: typeof slots): typeof slots {
  return {
    ...sound,
    slotRunOn(rule, date) {
      const { startsAt, count } = sound.slotRunOn(rule, date);
      return { startsAt, count: seeded === "SLOT_SHORT" ? count - 1 : count };
    },
  };
}

export function withLastingTokens(sound: typeof tokens): typeof tokens {
  return {
    ...sound,
    consumeToken: async (...all) => (await sound.consumeToken(...all)) || seeded === "TOKEN_NOT_USED_UP",
  };
}

export function withForgottenBlocks(sound: typeof blocks): typeof blocks {
  return {
    ...sound,
    async readBlocksOver(...all) {
      const found = await sound.readBlocksOver(...all);
      return seeded === "PROGRAM_BLOCK_FORGOTTEN"
        ? found.filter(({ practitionerId }) => practitionerId !== undefined)
        : found;
    },
  };
}

export function withWholeSeries(sound: typeof series): typeof series {
  return {
    ...sound,
    changeableFrom: (all, from, nowMs) =>
      sound.changeableFrom(all, seeded === "SERIES_CHANGED_WHOLE" ? undefined : from, nowMs),
  };
}
