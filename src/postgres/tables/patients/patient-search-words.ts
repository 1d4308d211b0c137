import type { Transaction } from "../../../call.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";

const insertWords = prepared(["tenant_id", "patient_id", "words"], ({ tenant_id, patient_id, words }) =>
  sql.raw(
    `INSERT INTO patient_search_words (tenant_id, word, patient_id)
     SELECT p.tenant_id, added.word, p.id FROM patients p CROSS JOIN unnest(?::text[]) AS added (word)
     WHERE p.tenant_id = ? AND p.id = ?`,
    [words, tenant_id, patient_id],
  ),
);

/** Adds words that a patient is found by from now on, none of which they had. */
export function insertSearchWords(transaction: Transaction, patientId: string, words: readonly string[]): void {
  transaction.send(insertWords({ tenant_id: transaction.tenantId, patient_id: patientId, words }));
}

/** Leaves a patient with these words in place of those, of which they had all. */
export function replaceSearchWords(
  transaction: Transaction,
  patientId: string,
  before: readonly string[],
  after: readonly string[],
): void {
  const gone = before.filter((word) => !after.includes(word));
  const added = after.filter((word) => !before.includes(word));
  const key = { tenant_id: transaction.tenantId, patient_id: patientId };
  if (gone.length > 0) {
    transaction.send(sql("patient_search_words").where(key).whereRaw("word = ANY(?::text[])", [gone]).delete());
  }
  if (added.length > 0) insertSearchWords(transaction, patientId, added);
}
