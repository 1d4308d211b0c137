import { validationFailed } from "../../errors.js";
import { lettersAndDigits, nameWords, phoneNumbers, significantDigits } from "../../postgres/search/search-words.js";
import type { PatientRecord } from "../../postgres/tables/patients/patients.js";

/** A test for one attribute of a person, such as a document number. Returns whether a reason contains the attribute. */
type Sign = (reason: string) => boolean;

/** Parts of names that are also common words. They identify nobody. */
const PARTICLES: ReadonlySet<string> = new Set(["DEL", "LAS", "LOS", "SAN", "VAN", "VON"]);
const MIN_LETTERS = 3;
/**
 * The minimum number of letters and digits with which a document or phone number identifies a person. Shorter numbers
 * appear in many texts by chance.
 */
const MIN_NUMBER = 5;

/**
 * The data of the person to erase: the patient record, the records merged into it, and the earlier document numbers.
 * The reason of the erasure must not identify this person.
 */
export interface ErasedPerson {
  readonly patients: readonly PatientRecord[];
  readonly formerDocumentNumbers: readonly string[];
}

/**
 * Requires that the reason of an erasure does not identify the person, because the reason is kept. Throws 422 if it
 * contains one of these data of the person:
 * - a word of a name, if the word has at least {@link MIN_LETTERS} letters and is not a common word such as DEL
 * - a current or earlier document number, in any notation
 * - a telephone number, in any notation
 * - an email address
 *
 * A document or telephone number with fewer than {@link MIN_NUMBER} letters and digits is allowed.
 */
export function refuseNaming(reason: string, { patients, formerDocumentNumbers }: ErasedPerson): void {
  const signs = [
    ...patients.flatMap((patient) => Object.values(signsOf(patient))),
    ...formerDocumentNumbers.map(inDocument),
  ];
  if (!signs.some((tells) => tells?.(reason))) return;
  const message =
    "the reason is kept, so it must not contain a name, document number, phone number or email address of the patient";
  throw validationFailed([{ code: "INVALID_VALUE", field: "reason", message }]);
}

/**
 * Returns a {@link Sign} for each attribute of a patient, or undefined for an attribute that identifies nobody. The
 * return type requires an entry for each attribute, so that a new attribute is not forgotten.
 */
function signsOf(patient: PatientRecord): Readonly<Record<keyof PatientRecord, Sign | undefined>> {
  const { documentNumber, fullName, phone, email } = patient;
  return {
    id: undefined,
    documentType: undefined,
    documentNumber: inDocument(documentNumber),
    fullName: inName(fullName),
    phone: inPhone(phone),
    email: email === undefined ? undefined : (reason) => reason.toLowerCase().includes(email.toLowerCase()),
    status: undefined,
    version: undefined,
    mergedInto: undefined,
    createdAt: undefined,
    updatedAt: undefined,
  };
}

function inName(fullName: string): Sign {
  const telling = new Set(nameWords(fullName).filter((word) => word.length >= MIN_LETTERS && !PARTICLES.has(word)));
  return (reason) => nameWords(reason).some((word) => telling.has(word));
}

function inDocument(documentNumber: string): Sign {
  return (reason) => contains(lettersAndDigits(reason), lettersAndDigits(documentNumber));
}

/**
 * {@link phoneNumbers} reads two numbers with only spaces or signs between them as one. So each part of a number that
 * is as long as its significant digits identifies the person.
 */
function inPhone(phone: string): Sign {
  const numbers = phoneNumbers(phone).flatMap((digits) => {
    const { length } = significantDigits(digits);
    return Array.from({ length: digits.length - length + 1 }, (_, at) => digits.slice(at, at + length));
  });
  return (reason) => numbers.some((number) => contains(reason.replaceAll(/\D/g, ""), number));
}

function contains(text: string, number: string): boolean {
  return number.length >= MIN_NUMBER && text.includes(number);
}
