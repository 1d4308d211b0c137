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

/** The members that a set of a program shall have from now on. */
export interface Replacement {
  readonly programId: string;
  readonly ids: readonly string[];
  readonly expectedVersion: number;
  /** The members as references, so that unknown ones are named. */
  readonly references: readonly Reference[];
}

/**
 * The set that is to be replaced, under the lock of its program, and whom the program belongs to: 404 for the program or a
 * member, 409 for another version.
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

/** Replaces a locked set as a whole, and gives the one that is. */
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
