/** The slots that programs should have on some dates. */
export interface SlotPlan {
  readonly programIds: readonly string[];
  /** The local dates, YYYY-MM-DD, that the plan is complete for; nothing outside them is touched. */
  readonly from: string;
  readonly through: string;
  /** The practitioner whose slots alone the plan speaks of; undefined for those of everybody. */
  readonly practitionerId: string | undefined;
  /** Who is to have slots in which of the programs: nobody who, or where the program or its place, is not active. */
  readonly staff: readonly Staff[];
  readonly runs: readonly PlannedRun[];
  readonly obstacles: PlanObstacles;
}

/** What keeps a program from slots that its rules and practitioners would give it. */
export interface PlanObstacles {
  readonly blocks: readonly PlannedBlock[];
  /** Programs that are not active, and those that are held where nothing is. */
  readonly inactivePrograms: readonly string[];
  readonly programsAtInactiveLocations: readonly string[];
  readonly inactivePractitioners: readonly string[];
  /** The dates that a rule would be open on if it were not for the tenant's holidays. */
  readonly holidays: readonly { readonly ruleId: string; readonly localDate: string }[];
}

/** A time that a practitioner is not to be had in, in any program, or that a program has no slots in: one of the two. */
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

/** The slots of a rule on one date: so many, one behind the other, for each practitioner of the program. */
export interface PlannedRun {
  readonly programId: string;
  readonly ruleId: string;
  readonly localDate: string;
  /** When the first begins, RFC 3339. */
  readonly startsAt: string;
  readonly minutes: number;
  readonly count: number;
}
