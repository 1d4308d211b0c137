import { containsCredential, statesCredential } from "./credentials/contains-credential.js";
import { containsKeyFormat } from "./credentials/key-formats.js";
import { containsDiagnosisCode } from "./diagnoses/diagnosis-codes.js";
import { statesDiagnosis } from "./diagnoses/diagnosis-statements.js";
import { containsAccount } from "./finances/contains-financial-data.js";
import { containsIban } from "./finances/iban.js";
import { isDocumentWithCard, isShortTextWithCard, isTelephoneWithCard } from "./finances/short-card-number.js";
import { codesOf, type Recognizer, type ScreeningCode } from "./screen-text.js";
import { toScreenedForm } from "./screened-form.js";

/**
 * The kind of a short text of one line:
 * - NAME: the name of a person or a reference to a case
 * - PHONE: a telephone number
 * - DOCUMENT: the type or number of an identity document, or a similar number
 * - LABEL: the name, code, description or address of a thing
 */
export type ShortTextKind = "NAME" | "PHONE" | "DOCUMENT" | "LABEL";

/**
 * Words such as `tiene`, `con` and `dx`, which occur when a text says that a person has a condition. A short text
 * without any of them does not count as a diagnosis, because Cáncer and Lupus can also be names.
 */
const clearWords = String.raw`diag[a-z]*|i?dx|con|with|has|have|had|tien[a-z]*|teng[a-z]*|tuv[a-z]*|padec[a-z]*|sufr[a-z]*|suffer[a-z]*|(?:sero)?positiv[a-z]*|reactiv[oa]`;
const clearWord = new RegExp(`(?<![a-z])(?:${clearWords})(?![a-z])`, "i");

/**
 * The checks of one kind of short text. `cards` checks every text for card numbers. `others` are the other checks, for
 * texts that are not a {@link code}.
 */
interface Looks {
  readonly cards: (plain: string) => boolean;
  readonly others: readonly Recognizer[];
}

const diagnosis: Recognizer = ["CONTAINS_DIAGNOSIS", clearlyStatesDiagnosis];
const account: Recognizer = ["CONTAINS_FINANCIAL_DATA", containsAccount];
const iban: Recognizer = ["CONTAINS_FINANCIAL_DATA", containsIban];

const looks: Readonly<Record<ShortTextKind, Looks>> = {
  NAME: { cards: isShortTextWithCard, others: [diagnosis, ["CONTAINS_CREDENTIAL", containsCredential], account] },
  PHONE: { cards: isTelephoneWithCard, others: [diagnosis, ["CONTAINS_CREDENTIAL", containsCredential]] },
  DOCUMENT: { cards: isDocumentWithCard, others: [["CONTAINS_CREDENTIAL", statesCredential], iban] },
  LABEL: { cards: isShortTextWithCard, others: [["CONTAINS_CREDENTIAL", statesCredential], account] },
};

/**
 * Matches a text of letters, digits and a few signs, without spaces: `PIN-1234`. Such a text counts as a code. A code
 * is checked only for key formats, IBANs and card numbers.
 */
const code = /^[\p{L}0-9._/#-]+$/u;
const looksInCodes: readonly Recognizer[] = [["CONTAINS_CREDENTIAL", containsKeyFormat], iban];

/**
 * Matches a text of at most 13 digits and the signs of telephone and document numbers. It never counts as a card
 * number.
 */
const fewDigits = /^[ ().+/-]*(?:[0-9][ ().+/-]*){0,13}$/;

/** Matches digits only, but not exactly 16 of them. {@link isDocumentWithCard} finds no card number in such a text. */
const plainNumber = /^(?:[0-9]{0,15}|[0-9]{17,})$/;

/** Matches a text of letters and the other characters of names: spaces, points, commas, hyphens and apostrophes. */
const onlyLetters = /^[A-Za-z\u00c0-\u024f .'’,-]*$/;

const words = `es|era|fue|son|is|was|como|as|sera|seria|sigue|usuario|username|user|login|dat[oa]s|credencial[a-z]*|${clearWords}`;
/**
 * Matches a text of letters ({@link onlyLetters}) that can have forbidden content. Such a text contains one of these:
 * - a verb such as `es`
 * - a word for logins, or a word of {@link clearWord}
 * - four single letters in a row (`p i n o`)
 * - a hyphen without a letter before it
 */
const telling = new RegExp(
  `(?:^|[ .'’,-])(?:(?:${words})(?:$|[ .'’,-])|-|[a-z](?:[ .,'’-]{1,3}[a-z](?=$|[ .,'’-])){3})`,
  "i",
);

/**
 * Returns the codes of the forbidden content in a short text, each at most once. In contrast to `screenText`, it allows
 * real names and numbers that look like forbidden content. For example, a person may be called Clave, and a telephone
 * number may look like the number of an account.
 */
export function screenShortText(text: string, kind: ShortTextKind): readonly ScreeningCode[] {
  if (fewDigits.test(text) || (onlyLetters.test(text) && !telling.test(text))) return [];
  if (kind === "DOCUMENT" && plainNumber.test(text)) return [];
  const plain = toScreenedForm(text);
  const { cards, others } = looks[kind];
  const all: readonly Recognizer[] = [
    ...(code.test(plain) ? looksInCodes : others),
    ["CONTAINS_FINANCIAL_DATA", cards],
  ];
  return codesOf(plain, all);
}

function clearlyStatesDiagnosis(plain: string): boolean {
  return clearWord.test(plain) && (containsDiagnosisCode(plain) || statesDiagnosis(plain));
}

/** Returns all codes that {@link screenShortText} can return for a kind of short text. */
export function codesOfKind(kind: ShortTextKind): readonly ScreeningCode[] {
  const codes = [...looks[kind].others, ...looksInCodes].map(([found]) => found);
  return [...new Set(codes)];
}
