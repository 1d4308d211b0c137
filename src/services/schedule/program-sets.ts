import type { Owner, ReadyCall, Transaction } from "../../call.js";
import {
  type ProgramSet,
  type ProgramSetTable,
  programs,
  readProgramSet,
  writeProgramSet,
} from "../../postgres/tables/schedule/programs.js";
import { requireVersion } from "../resources/preconditions.js";
import { lockReferring, ownerOf, type Reference } from "../resources/resources.js";

/** The requested services or practitioners of a program. They replace its current ones. */
export interface Replacement {
  readonly programId: string;
  readonly ids: readonly string[];
  readonly expectedVersion: number;
  /**
   * References to the services or practitioners in `ids`. The 404 error names the field of each unusable reference. A
   * reference is unusable if its resource does not exist for the caller. It is also unusable if some callers can see
   * the program but not this resource.
   */
  readonly references: readonly Reference[];
}

/**
 * Locks a program. Returns its current services or its current practitioners; `table` selects which. Also returns the
 * owner of the program. Throws 404 if the program does not exist, or if one of the `references` is unusable (see
 * {@link Replacement}). Throws 409 for a stale version.
 */
export async function lockProgramSet(
  call: ReadyCall,
  table: ProgramSetTable,
  { programId, expectedVersion, references }: Replacement,
): Promise<{ readonly before: ProgramSet; readonly ownedBy: Owner }> {
  const [program, before] = await Promise.all([
    lockReferring(call, programs, programId, references),
    readProgramSet(call.transaction, table, programId),
  ]);
  requireVersion(before, expectedVersion);
  return { before, ownedBy: ownerOf(program) };
}

/** Replaces all services or all practitioners of a locked program; `table` selects which. Returns the new set. */
export function replaceProgramSet(
  transaction: Transaction,
  table: ProgramSetTable,
  { programId, ids }: Replacement,
  before: ProgramSet,
): ProgramSet {
  const set = { ids, version: before.version + 1 };
  writeProgramSet(transaction, table, programId, set);
  return set;
}
