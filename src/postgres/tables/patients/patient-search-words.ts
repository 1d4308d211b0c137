import type { Statement, Transaction } from "../../../call.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";

/** Adds search words to a patient. The patient must not have any of these words yet. */
export function insertSearchWords(transaction: Transaction, patientId: string, words: readonly string[]): void {
  let insert = inserts.get(words.length);
  if (insert === undefined) inserts.set(words.length, (insert = prepareInsert(words.length)));
  const values: Record<string, unknown> = { tenant_id: transaction.tenantId, patient_id: patientId };
  words.forEach((word, i) => (values[nameOf(i)] = word));
  transaction.send(insert(values));
}

type Insert = (values: Readonly<Record<string, unknown>>) => Statement;

/**
 * Prepared INSERT statements by number of words. A patient usually has fewer than ten words, and at most about a
 * hundred.
 */
const inserts = new Map<number, Insert>();

function prepareInsert(count: number): Insert {
  const names = Array.from({ length: count }, (_, i) => nameOf(i));
  return prepared<string>(["tenant_id", "patient_id", ...names], ({ tenant_id, patient_id, ...words }) =>
    sql("patient_search_words").insert(names.map((name) => ({ tenant_id, patient_id, word: words[name] }))),
  );
}

function nameOf(index: number): string {
  return `word_${index}`;
}

/** Replaces the search words `before` of a patient by `after`. `before` must be all words that the patient has. */
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
