import type { Transaction } from "../../../call.js";
import { readOnlyRow, readRecord, readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { type PatientRecord, patientColumns } from "./patients.js";

/** A position in the index of words: a word and the id of its patient. The search continues after this position. */
export interface WordCursor {
  readonly word: string;
  readonly id: string;
}

/**
 * A found patient. `word` is the first of the patient's search words, in alphabetical order, that begins with
 * {@link PatientSearch.leading}.
 */
export interface FoundPatient extends PatientRecord {
  readonly word: string;
}

/**
 * The conditions of a search. A found patient has a word that begins with `leading`. For each item of `beginnings`, the
 * patient has a word that begins with this item.
 */
export interface PatientSearch {
  /** The text that is looked up in the index of words. */
  readonly leading: string;
  /**
   * Each of these texts must be the beginning of a word of the patient. The list may include `leading` or a prefix of
   * `leading`.
   */
  readonly beginnings: readonly string[];
  readonly status: string | undefined;
}

/** The maximum number of words that {@link rarestBeginning} counts for each text. */
const MAX_COUNT = 1_000;
/** The maximum number of index entries that one page reads. This maximum limits the time of any search. */
const MAX_SCANNED = 5_000;
const FIRST_ID = "00000000-0000-0000-0000-000000000000";
/** A character that no word contains. A text plus this character sorts after all words that begin with the text. */
const LAST = "\u{10ffff}";

/**
 * Returns the item of `beginnings` that is the beginning of the fewest search words of the tenant's patients. If
 * several items have the same number of words, returns the longest. A word counts once for each patient who has it.
 * Each count stops at 1,000. Returns an empty text if `beginnings` is empty.
 */
export async function rarestBeginning(transaction: Transaction, beginnings: readonly string[]): Promise<string> {
  const [only = ""] = beginnings;
  if (beginnings.length < 2) return only;
  const counts = sql.raw(
    `SELECT wanted.beginning, (SELECT count(*) FROM (SELECT FROM patient_search_words
       WHERE tenant_id = ? AND word >= wanted.beginning AND word < wanted.beginning || ? LIMIT ${MAX_COUNT}) AS counted) AS count
     FROM unnest(?::text[]) AS wanted (beginning) ORDER BY count, length(wanted.beginning) DESC LIMIT 1`,
    [transaction.tenantId, LAST, beginnings as string[]],
  );
  return (await readOnlyRow<{ readonly beginning: string }>(transaction, counts)).beginning;
}

/**
 * Returns at most `limit` matching patients after the position `after`, ordered by {@link FoundPatient.word}, then id.
 * Starts with the first patient if `after` is undefined. Reads at most 5,000 words. So the result can have fewer
 * patients than `limit` although more patients match.
 *
 * OFFSET 0 makes PostgreSQL look up patients one by one. Without it, PostgreSQL would estimate few patients, choose
 * another join and read all patients that match.
 */
export async function findPatients(
  transaction: Transaction,
  search: PatientSearch,
  { after, limit }: { readonly after: WordCursor | undefined; readonly limit: number },
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

/**
 * Returns the position at which {@link findPatients} stops reading: the 5,000th position after `after`. Returns
 * undefined if fewer positions are left.
 */
export async function findEndOfScan(
  transaction: Transaction,
  search: PatientSearch,
  after: WordCursor | undefined,
): Promise<WordCursor | undefined> {
  const query = `SELECT word, patient_id AS id FROM (${SCAN} OFFSET ${MAX_SCANNED - 1} LIMIT 1) AS scanned`;
  const { leading: _, end: __, ...bindings } = scanBindings(transaction, search, after);
  return readRecord(transaction, sql.raw(query, bindings));
}

const SCAN = `SELECT word, patient_id FROM patient_search_words
  WHERE tenant_id = :tenantId AND (word, patient_id) > (:afterWord, :afterId) AND word < :last ORDER BY word, patient_id`;

function scanBindings({ tenantId }: Transaction, { leading }: PatientSearch, after: WordCursor | undefined) {
  const { word: afterWord, id: afterId } = after ?? { word: leading, id: FIRST_ID };
  return { tenantId, leading, end: LAST, last: leading + LAST, afterWord, afterId };
}
