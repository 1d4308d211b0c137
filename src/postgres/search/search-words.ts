/** The attributes of a patient that a search covers. */
export interface SearchedPatient {
  readonly fullName: string;
  readonly phone: string;
  readonly documentNumber: string;
}

/** Prefixes of the search words of telephone and document numbers. Search words of names begin with neither prefix. */
const PHONE = "#";
const DOCUMENT = "$";
const MAX_WORD = 64;
/**
 * The number of last digits of a telephone number that are compared. Colombian numbers have 10 digits without the
 * country code, so these digits are the same with and without it.
 */
const SIGNIFICANT_DIGITS = 10;
/** Fewer digits are an extension, not a telephone number. */
const MIN_DIGITS = 5;

/**
 * Returns the search words of a patient, without duplicates. A search looks for words that begin with the searched
 * text. A patient has the words of the name ({@link nameWords}), one word for each telephone number ({@link phoneWord})
 * and one for the document number ({@link documentWord}). An erased patient has no search words.
 */
export function searchWords({ fullName, phone, documentNumber }: SearchedPatient): readonly string[] {
  const phones = phoneNumbers(phone);
  const documents = [documentWord(documentNumber)].filter((word) => word !== DOCUMENT);
  return [...new Set([...nameWords(fullName), ...phones.map(phoneWord), ...documents])];
}

/**
 * Returns the words of a name or of a part of a name, in upper case and without accents or duplicates. Cuts words to 64
 * characters.
 */
export function nameWords(name: string): readonly string[] {
  const words = fold(name).split(/[^\p{L}\p{N}]+/u);
  return [...new Set(words.filter((word) => word !== "").map(cut))];
}

/**
 * Returns the digits of each telephone number in a text. Numbers between which are only spaces or the signs `( ) . + -`
 * count as one. Numbers with fewer than 5 digits are extensions and omitted.
 */
export function phoneNumbers(phone: string): readonly string[] {
  const numbers = phone.match(/\d[\d ().+-]*/g) ?? [];
  return numbers.map(digitsOf).filter((digits) => digits.length >= MIN_DIGITS);
}

/** Returns the last 10 digits of a telephone number. These digits are the same with and without a country code. */
export function significantDigits(phone: string): string {
  return digitsOf(phone).slice(-SIGNIFICANT_DIGITS);
}

/**
 * Returns the search word of a telephone number: `#`, then its last 10 digits in reverse order. For example, the search
 * word of 3101234567 is `#7654321013`. The search word of the last digits 4567 is `#7654`, the beginning of that word.
 * So a search finds a number by its last digits.
 */
export function phoneWord(phone: string): string {
  return PHONE + Array.from(significantDigits(phone)).toReversed().join("");
}

/**
 * Returns the search word of a document number: `$`, then its letters and digits in upper case and without accents, cut
 * to 64 characters. For example, the search word of 1.020.304 is `$1020304`. The search word of its first characters
 * 1020 is `$1020`, the beginning of that word. So a search finds a number by its first characters.
 */
export function documentWord(documentNumber: string): string {
  return DOCUMENT + cut(lettersAndDigits(documentNumber));
}

/** Returns the letters and digits of a text of any length, in upper case and without accents. */
export function lettersAndDigits(text: string): string {
  return fold(text).replaceAll(/[^\p{L}\p{N}]/gu, "");
}

function cut(word: string): string {
  return word.length <= MAX_WORD ? word : Array.from(word).slice(0, MAX_WORD).join("");
}

function digitsOf(phone: string): string {
  return phone.replaceAll(/\D/g, "");
}

/**
 * Returns a text in compatibility decomposition (NFKD) and upper case, without combining marks and invisible
 * characters.
 */
function fold(text: string): string {
  return text
    .normalize("NFKD")
    .toUpperCase()
    .replaceAll(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, "");
}
