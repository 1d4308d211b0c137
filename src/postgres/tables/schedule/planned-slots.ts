/** The slots that programs should have in a range of dates. */
export interface SlotPlan {
  readonly programIds: readonly string[];
  /**
   * The range of local dates that the plan covers, YYYY-MM-DD, both inclusive. Slots on other dates are not changed.
   */
  readonly from: string;
  readonly through: string;
  /** The only practitioner whose slots the plan covers; undefined for all practitioners. */
  readonly practitionerId: string | undefined;
  /**
   * The active practitioners of each program, or only `practitionerId`, if defined. A program has none if the program
   * or its location is inactive.
   */
  readonly staff: readonly Staff[];
  readonly runs: readonly PlannedRun[];
  readonly obstacles: PlanObstacles;
}

/** The reasons why programs have fewer slots than their rules and practitioners allow. */
export interface PlanObstacles {
  readonly blocks: readonly PlannedBlock[];
  readonly inactivePrograms: readonly string[];
  readonly programsAtInactiveLocations: readonly string[];
  readonly inactivePractitioners: readonly string[];
  /** The holidays on which a rule would have slots if the date were not a holiday. */
  readonly holidays: readonly { readonly ruleId: string; readonly localDate: string }[];
}

/**
 * A time range in which a practitioner (in all programs) or a program has no slots. Exactly one of the two ids is set.
 */
export interface PlannedBlock {
  readonly blockId: string;
  readonly practitionerId: string | undefined;
  readonly programId: string | undefined;
  readonly startsAt: Date;
  readonly endsAt: Date;
}

/** A practitioner who works in a program. */
export interface Staff {
  readonly programId: string;
  readonly practitionerId: string;
}

/**
 * `count` adjacent slots of a rule on one date, each `minutes` long. Each practitioner of the program has these slots,
 * except during blocks.
 */
export interface PlannedRun {
  readonly programId: string;
  readonly ruleId: string;
  readonly localDate: string;
  /** Start of the first slot, RFC 3339. */
  readonly startsAt: string;
  readonly minutes: number;
  readonly count: number;
}
