import { containsCredential } from "./credentials/contains-credential.js";
import { containsDiagnosisCode } from "./diagnoses/diagnosis-codes.js";
import { statesDiagnosis } from "./diagnoses/diagnosis-statements.js";
import { containsFinancialData } from "./finances/contains-financial-data.js";
import { mendSpelling } from "./mend-spelling.js";
import { toPlainText } from "./plain-text.js";

/** What free text must not hold (specification section 4.6). */
export type ScreeningCode = "CONTAINS_DIAGNOSIS" | "CONTAINS_CREDENTIAL" | "CONTAINS_FINANCIAL_DATA";

/** What finds something that a plain text must not hold. */
export const recognizers: readonly (readonly [ScreeningCode, (plain: string) => boolean])[] = [
  ["CONTAINS_DIAGNOSIS", containsDiagnosisCode],
  ["CONTAINS_DIAGNOSIS", statesDiagnosis],
  ["CONTAINS_CREDENTIAL", containsCredential],
  ["CONTAINS_FINANCIAL_DATA", containsFinancialData],
];

/**
 * Says what a text holds that it must not hold: each code at most once, in this order, none for a text that may pass.
 * It keeps sensitive data out that people write down without a thought; where words alone cannot tell, it lets the
 * text pass, since a complaint that is refused for a room number is lost. The time it takes grows with the length of
 * the text and not faster: every pattern looks only a fixed number of characters ahead or behind.
 */
export function screenText(text: string): readonly ScreeningCode[] {
  const plain = mendSpelling(toPlainText(text));
  const codes = new Set<ScreeningCode>();
  for (const [code, finds] of recognizers) if (!codes.has(code) && finds(plain)) codes.add(code);
  return [...codes];
}
