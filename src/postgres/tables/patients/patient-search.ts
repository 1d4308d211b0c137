import type { Transaction } from "../../../call.js";
import { readRecord, readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { type PatientRecord, patientColumns } from "./patients.js";

/** Where a search goes on: behind this word of this patient. */
export interface WordPlace {
  readonly word: string;
  readonly id: string;
}

/** A patient who was found, by which of their words. */
export interface FoundPatient extends PatientRecord {
  readonly word: string;
}

/** What is looked for: patients who have, for each of these, a word that begins with it. */
export interface PatientSearch {
  /** Looked up in the index; whoever has none is not looked at. */
  readonly leading: string;
  /** The others; those that `leading` begins with, or that are the same, do no harm. */
  readonly beginnings: readonly string[];
  readonly status: string | undefined;
}

/** What says more of the beginning of a word is not counted further. */
const MAX_COUNT = 1_000;
/** How many words of the index one page looks at, so that no search takes long, whatever is looked for. */
const MAX_SCANNED = 5_000;
const FIRST_ID = "00000000-0000-0000-0000-000000000000";
/** Behind everything that begins with what stands before it: no word has this character. */
const LAST = "\u{10ffff}";

/** The one of these beginnings that the fewest words of the tenant have, as far as they are counted. */
export async function rarestBeginning(transaction: Transaction, beginnings: readonly string[]): Promise<string> {
  const [only = ""] = beginnings;
  if (beginnings.length < 2) return only;
  const counts = sql.raw(
    `SELECT wanted.beginning, (SELECT count(*) FROM (SELECT FROM patient_search_words
       WHERE tenant_id = ? AND word >= wanted.beginning AND word < wanted.beginning || ? LIMIT ${MAX_COUNT}) AS counted) AS count
     FROM unnest(?::text[]) AS wanted (beginning) ORDER BY count, length(wanted.beginning) DESC LIMIT 1`,
    [transaction.tenantId, LAST, beginnings as string[]],
  );
  return (await readRecord<{ beginning: string }>(transaction, counts))?.beginning ?? only;
}

/**
 * The patients who are found behind a place, or from the first on, at most `limit`, in the order of the leading word.
 * OFFSET 0 keeps PostgreSQL from joining in another way than patient by patient, which it thinks good for few patients and
 * which reads all of them.
 */
export async function findPatients(
  transaction: Transaction,
  search: PatientSearch,
  { after, limit }: { readonly after: WordPlace | undefined; readonly limit: number },
): Promise<FoundPatient[]> {
  const columns = Object.entries(patientColumns).map(([attribute, column]) => `${column} AS "${attribute}"`);
  const query = `SELECT found.*, scanned.word
    FROM (${SCAN} LIMIT ${MAX_SCANNED}) AS scanned
    CROSS JOIN LATERAL (SELECT ${columns.join(", ")} FROM patients
      WHERE tenant_id = :tenantId AND id = scanned.patient_id AND (:status::text IS NULL OR status = :status)
        AND scanned.word = (SELECT min(own) FROM unnest(search_words) AS own WHERE own >= :leading AND own < :last)
        AND NOT EXISTS (SELECT FROM unnest(:beginnings::text[]) AS wanted (beginning) WHERE NOT EXISTS (
          SELECT FROM unnest(search_words) AS own WHERE own >= wanted.beginning AND own < wanted.beginning || :end))
      OFFSET 0) AS found
    ORDER BY scanned.word, scanned.patient_id LIMIT :limit`;
  const wanted = { status: search.status ?? null, beginnings: search.beginnings as string[], limit };
  return readRecords(transaction, sql.raw(query, { ...scanBindings(transaction, search, after), ...wanted }));
}

/** Where {@link findPatients} stopped looking from the same place; undefined where it looked at everybody. */
export async function findEndOfScan(
  transaction: Transaction,
  search: PatientSearch,
  after: WordPlace | undefined,
): Promise<WordPlace | undefined> {
  const query = `SELECT word, patient_id AS id FROM (${SCAN} OFFSET ${MAX_SCANNED - 1} LIMIT 1) AS scanned`;
  const { leading: _, end: __, ...bindings } = scanBindings(transaction, search, after);
  return readRecord(transaction, sql.raw(query, bindings));
}

const SCAN = `SELECT word, patient_id FROM patient_search_words
  WHERE tenant_id = :tenantId AND (word, patient_id) > (:afterWord, :afterId) AND word < :last ORDER BY word, patient_id`;

function scanBindings({ tenantId }: Transaction, { leading }: PatientSearch, after: WordPlace | undefined) {
  const { word: afterWord, id: afterId } = after ?? { word: leading, id: FIRST_ID };
  return { tenantId, leading, end: LAST, last: leading + LAST, afterWord, afterId };
}
