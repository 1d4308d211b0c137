/** What of a patient is searched. */
export interface SearchedPatient {
  readonly fullName: string;
  readonly phone: string;
  readonly documentNumber: string;
}

/** Before words that are no part of a name; letters and digits alone make those. */
const PHONE = "#";
const DOCUMENT = "$";
const MAX_WORD = 64;
/** Two ways to write one number in its own country and from abroad agree in so many digits at the end. */
const SIGNIFICANT_DIGITS = 10;
/** Fewer digits in a row are an extension and not a number. */
const MIN_DIGITS = 5;

/**
 * The words that a patient is found by, each once. A search is for words that begin with what is looked for: those of the
 * name as {@link nameWords} gives them, the digits of each telephone number from the last to the first, and the document
 * number.
 */
export function searchWords({ fullName, phone, documentNumber }: SearchedPatient): readonly string[] {
  const numbers = phone.match(/\d[\d ().+-]*/g) ?? [];
  const phones = numbers.map(digitsOf).filter((digits) => digits.length >= MIN_DIGITS);
  return [...new Set([...nameWords(fullName), ...phones.map(phoneWord), documentWord(documentNumber)])];
}

/** The words of a name, or of a part of one, without accents and in one case. */
export function nameWords(name: string): readonly string[] {
  const words = fold(name).split(/[^\p{L}\p{N}]+/u);
  return [...new Set(words.filter((word) => word !== "").map(cut))];
}

/** What the word of a telephone number begins with that ends in these digits; a country code does not count. */
export function phoneWord(phone: string): string {
  return PHONE + Array.from(digitsOf(phone).slice(-SIGNIFICANT_DIGITS)).toReversed().join("");
}

/** The word of a document number, or what it begins with: letters and digits alone count. */
export function documentWord(documentNumber: string): string {
  return DOCUMENT + cut(fold(documentNumber).replaceAll(/[^\p{L}\p{N}]/gu, ""));
}

function cut(word: string): string {
  return word.length <= MAX_WORD ? word : Array.from(word).slice(0, MAX_WORD).join("");
}

function digitsOf(phone: string): string {
  return phone.replaceAll(/\D/g, "");
}

/** Compatibility forms taken apart (NFKD), upper case, and nothing that is not seen or only stands on another character. */
function fold(text: string): string {
  return text
    .normalize("NFKD")
    .toUpperCase()
    .replaceAll(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, "");
}
