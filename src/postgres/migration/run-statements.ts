import type { Knex } from "knex";
import { DatabaseError } from "pg";
import { splitStatements } from "./split-statements.js";

/** How many characters of a statement an error quotes. */
const QUOTED_CHARACTERS = 60;

/**
 * Runs the statements of a migration one by one, because Citus rejects several statements in one text for distributed
 * tables. Rejects with the first error of the database. The error keeps its class and code. Its message has the cause
 * first, then the migration, the number of the statement and the statement's first words.
 */
export async function runStatements(database: Knex, migration: string, sql: string): Promise<void> {
  const statements = splitStatements(sql);
  for (const [index, statement] of statements.entries()) {
    try {
      await database.raw(statement);
    } catch (error) {
      if (error instanceof DatabaseError) {
        const cause = error.message.replace(`${statement} - `, () => "");
        const place = `statement ${index + 1} of ${statements.length}`;
        error.message = `${cause} (migration ${migration}, ${place}: ${firstWords(statement)})`;
      }
      throw error;
    }
  }
}

function firstWords(statement: string): string {
  const line = statement.replace(/\s+/g, " ");
  return line.length > QUOTED_CHARACTERS ? `${line.slice(0, QUOTED_CHARACTERS)}…` : line;
}
