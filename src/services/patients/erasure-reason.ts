import { validationFailed } from "../../errors.js";
import { documentWord, nameWords } from "../../postgres/search/search-words.js";
import type { PatientRecord } from "../../postgres/tables/patients/patients.js";

/** Words of names that stand in every other sentence, and tell of nobody. */
const PARTICLES: ReadonlySet<string> = new Set(["DEL", "LAS", "LOS", "SAN", "VAN", "VON"]);
const MIN_LETTERS = 3;
const MIN_DIGITS = 5;

/**
 * Refuses a reason that would keep on record what is erased: a word of the name of one of these patients, the number of their
 * document or telephone however it is written, or their address: 422.
 */
export function refuseNaming(reason: string, patients: readonly PatientRecord[]): void {
  if (!patients.some((patient) => tellsOf(reason, patient))) return;
  const message = "the reason stays on record and must not tell who the patient was";
  throw validationFailed([{ code: "INVALID_VALUE", field: "reason", message }]);
}

function tellsOf(reason: string, { fullName, documentNumber, phone, email }: PatientRecord): boolean {
  const words = new Set(nameWords(reason));
  const isNamed = nameWords(fullName).some(
    (word) => word.length >= MIN_LETTERS && !PARTICLES.has(word) && words.has(word),
  );
  const isDocumented = contains(together(reason), together(documentNumber));
  const isCalled = contains(digitsOf(reason), digitsOf(phone));
  return (
    isNamed || isDocumented || isCalled || (email !== undefined && reason.toLowerCase().includes(email.toLowerCase()))
  );
}

function contains(text: string, number: string): boolean {
  return number.length >= MIN_DIGITS && text.includes(number);
}

/** Letters and digits alone, as the word of a document has them, but of a text of any length. */
function together(text: string): string {
  return text
    .split(/\s+/)
    .map((part) => documentWord(part).slice(1))
    .join("");
}

function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, "");
}
