import type { Knex } from "knex";
import { searchWords } from "./search-words.js";

interface Row {
  readonly tenant_id: string;
  readonly id: string;
  readonly full_name: string;
  readonly phone: string;
  readonly document_number: string;
}

const BATCH = 5_000;
const NOBODY = "00000000-0000-0000-0000-000000000000";
const TABLES = ["patients", "patient_search_words"];

/**
 * Fills the search words of all patients of all tenants, as part of the migration that creates their table. SQL cannot
 * compute the words as the service does. While the function runs, the owner of the tables sees the rows of all tenants.
 */
export async function fillSearchWords(database: Knex): Promise<void> {
  for (const table of TABLES) await database.raw("ALTER TABLE ?? NO FORCE ROW LEVEL SECURITY", [table]);
  let last: Pick<Row, "tenant_id" | "id"> | undefined = { tenant_id: NOBODY, id: NOBODY };
  while (last !== undefined) last = await fillBatch(database, last);
  for (const table of TABLES) await database.raw("ALTER TABLE ?? FORCE ROW LEVEL SECURITY", [table]);
}

/**
 * Fills the search words of the next batch of patients, in the order of tenant id and patient id. The batch begins
 * after the given patient. Returns the last patient of the batch; undefined if no patient is left.
 */
async function fillBatch(database: Knex, { tenant_id, id }: Pick<Row, "tenant_id" | "id">): Promise<Row | undefined> {
  const { rows }: { rows: Row[] } = await database.raw(
    `SELECT tenant_id, id, full_name, phone, document_number FROM patients
     WHERE (tenant_id, id) > (?::uuid, ?::uuid) ORDER BY tenant_id, id LIMIT ${BATCH}`,
    [tenant_id, id],
  );
  const words = rows.map(({ full_name: fullName, phone, document_number: documentNumber }) =>
    searchWords({ fullName, phone, documentNumber }).join(" "),
  );
  await database.raw(
    `WITH filled AS (
       UPDATE patients SET search_words = string_to_array(filled.words, ' ')
       FROM unnest(?::uuid[], ?::uuid[], ?::text[]) AS filled (tenant_id, id, words)
       WHERE patients.tenant_id = filled.tenant_id AND patients.id = filled.id
       RETURNING patients.tenant_id, patients.id, search_words)
     INSERT INTO patient_search_words (tenant_id, word, patient_id) SELECT tenant_id, unnest(search_words), id FROM filled`,
    [rows.map((row) => row.tenant_id), rows.map((row) => row.id), words],
  );
  return rows.at(-1);
}
