import { CupoError } from "../../src/errors.js";
import type { ServiceEntry } from "../../src/services/services.js";

/** What can be made wrong with the creation of a payer, each a mistake that somebody could make. */
export type FuzzDefect =
  /** A message tells what was sent, so that it is easier to find. */
  | "VALUE_REPEATED"
  /** A text that is longer than somebody thought. */
  | "LONG_TEXT_UNEXPECTED"
  /** A refusal that was copied from another operation, whose row has its status. */
  | "STATUS_OF_ANOTHER"
  /** A failure of the database, given on as it is. */
  | "SQL_SHOWN";

interface Payer {
  readonly name: string;
}

const THOUGHT_OF = 100;

const refusals: Readonly<Record<FuzzDefect, (payer: Payer) => void>> = {
  VALUE_REPEATED({ name }) {
    throw new CupoError("RESOURCE_NOT_FOUND", { detail: `There is no ${name}.` });
  },
  LONG_TEXT_UNEXPECTED({ name }) {
    if (name.length > THOUGHT_OF) throw new TypeError("the name cannot be read");
  },
  STATUS_OF_ANOTHER() {
    throw new CupoError("OPTION_EXPIRED", { detail: "The payer is not there any more." });
  },
  SQL_SHOWN() {
    throw new CupoError("RESOURCE_NOT_FOUND", { detail: 'insert violates foreign key constraint "payers_fkey"' });
  },
};

/** A service whose payers are created with a defect, as long as `seeded` gives one. */
export function withDefect(entry: ServiceEntry, seeded: () => FuzzDefect | undefined): ServiceEntry {
  const create: unknown = Reflect.get(entry.implementation, "createPayer");
  if (typeof create !== "function") return entry;
  const createPayer = (payer: Payer, ...others: unknown[]): unknown => {
    const defect = seeded();
    if (defect !== undefined) refusals[defect](payer);
    return create.call(entry.implementation, payer, ...others);
  };
  return { ...entry, implementation: { ...entry.implementation, createPayer } };
}
