import { CupoError } from "../../src/errors.js";
import type { ServiceEntry } from "../../src/services/services.js";

/** Defects of CreatePayer, each a plausible mistake. */
export type FuzzDefect =
  /** An error message contains the value that was sent. */
  | "VALUE_REPEATED"
  /** A long text causes an unexpected error. */
  | "LONG_TEXT_UNEXPECTED"
  /** An error copied from another operation, with a status that CreatePayer does not list. */
  | "STATUS_OF_ANOTHER"
  /** An error message of the database is passed on. */
  | "SQL_SHOWN";

interface Payer {
  readonly name: string;
}

const THOUGHT_OF = 100;

const refusals: Readonly<Record<FuzzDefect, (payer: Payer) => void>> = {
  VALUE_REPEATED({ name }) {
    throw new CupoError("INVALID_REQUEST", { detail: `The name ${name} cannot be used.` });
  },
  LONG_TEXT_UNEXPECTED({ name }) {
    if (name.length > THOUGHT_OF) throw new TypeError("the name cannot be read");
  },
  STATUS_OF_ANOTHER() {
    throw new CupoError("OPTION_EXPIRED", { detail: "The payer is not there any more." });
  },
  SQL_SHOWN() {
    throw new CupoError("INVALID_REQUEST", { detail: 'insert violates foreign key constraint "payers_fkey"' });
  },
};

/** Adds a defect to CreatePayer while `seeded` returns one. */
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
