import type { Owner, ReadyCall } from "../../call.js";
import {
  type ProgramSet,
  type ProgramSetTable,
  programs,
  readProgramSet,
  writeProgramSet,
} from "../../postgres/tables/schedule/programs.js";
import { requireVersion } from "../resources/preconditions.js";
import { lockResource, ownerOf, type Reference, requireReferences } from "../resources/resources.js";

/** The members that a set of a program shall have from now on. */
export interface Replacement {
  readonly programId: string;
  readonly ids: readonly string[];
  readonly expectedVersion: number;
  /** The members as references, so that unknown ones are named. */
  readonly references: readonly Reference[];
}

/**
 * Replaces a set as a whole under the lock of the program: 404 for the program or a member, 409 for another version. Gives
 * the set that was, the one that is and whom the program belongs to.
 */
export async function replaceProgramSet(
  call: ReadyCall,
  table: ProgramSetTable,
  { programId, ids, expectedVersion, references }: Replacement,
): Promise<{ readonly before: ProgramSet; readonly set: ProgramSet; readonly ownedBy: Owner }> {
  const transaction = call.transaction;
  const [program, current] = await Promise.all([
    lockResource(call, programs, programId),
    readProgramSet(transaction, table, programId),
  ]);
  await requireReferences(call, references, { table: programs, id: programId });
  requireVersion(current, expectedVersion);
  const set = { ids, version: current.version + 1 };
  writeProgramSet(transaction, table, programId, set);
  return { before: current, set, ownedBy: ownerOf(program) };
}
