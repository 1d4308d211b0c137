import { containsCredential } from "./credentials/contains-credential.js";
import { containsDiagnosisCode } from "./diagnoses/diagnosis-codes.js";
import { statesDiagnosis } from "./diagnoses/diagnosis-statements.js";
import { containsFinancialData } from "./finances/contains-financial-data.js";
import { toScreenedForm } from "./screened-form.js";

/** The codes for forbidden content of free text (specification section 4.6). */
export type ScreeningCode = "CONTAINS_DIAGNOSIS" | "CONTAINS_CREDENTIAL" | "CONTAINS_FINANCIAL_DATA";

/** A recognizer: a code, and the function that returns whether a plain text has the forbidden content of this code. */
export type Recognizer = readonly [ScreeningCode, (plain: string) => boolean];

/** The recognizers that {@link screenText} applies to each text. */
export const recognizers: readonly Recognizer[] = [
  ["CONTAINS_DIAGNOSIS", containsDiagnosisCode],
  ["CONTAINS_DIAGNOSIS", statesDiagnosis],
  ["CONTAINS_CREDENTIAL", containsCredential],
  ["CONTAINS_FINANCIAL_DATA", containsFinancialData],
];

/**
 * Returns the codes of the forbidden content in a text, each at most once, in the order of {@link ScreeningCode}.
 * Returns an empty list if the text is allowed. A text that does not clearly have forbidden content is allowed. For
 * example, a room number can look like a diagnosis code, and a complaint with a room number must not be rejected.
 *
 * The time grows linearly with the length of the text: every pattern reads only a limited number of characters around
 * each position.
 */
export function screenText(text: string): readonly ScreeningCode[] {
  return codesOf(toScreenedForm(text), recognizers);
}

/** Returns the codes of the recognizers that find forbidden content in a plain text, each at most once. */
export function codesOf(plain: string, all: readonly Recognizer[]): readonly ScreeningCode[] {
  const codes = new Set<ScreeningCode>();
  for (const [code, finds] of all) if (!codes.has(code) && finds(plain)) codes.add(code);
  return [...codes];
}
