import { isCardNumber } from "./card-number.js";
import { withoutUuids } from "./without-uuids.js";

const separator = String.raw`(?<sign>[^0-9A-Za-z+]{1,3})`;

/**
 * Matches 14 to 19 digits in one piece. Shorter numbers do not match, because many other numbers have 12 or 13 digits.
 */
const piece = /(?<![0-9])[0-9]{14,19}(?![0-9])/g;

/**
 * Matches digits with equal separators between them, in groups as on cards (such as 4-4-4-4) or in groups of one or two
 * digits. Two adjacent telephone numbers do not match if the separator between them differs from the separators inside
 * the numbers.
 */
const groups = [
  String.raw`[0-9]{4}${separator}[0-9]{4}\k<sign>[0-9]{4}\k<sign>[0-9]{4}`,
  String.raw`[0-9]{4}${separator}[0-9]{6}\k<sign>[0-9]{4,5}`,
  String.raw`[0-9]{1,2}${separator}(?:[0-9]{1,2}\k<sign>){6,14}[0-9]{1,2}`,
].map((source) => new RegExp(`(?<![0-9])(?=(?<number>${source})(?![0-9]))`, "gu"));

/** Matches digits after a plus sign or 00. An international telephone number has at most 15 of them (ITU-T E.164). */
const international = /(?:\+|(?<![0-9])00)[0-9][0-9 ().-]{0,40}/g;
const MOST_INTERNATIONAL = 15;

/**
 * Returns whether a name, a code or a reference contains a payment card number: digits in an issuer's range with a
 * valid check digit.
 */
export function isShortTextWithCard(plain: string): boolean {
  const text = withoutUuids(plain);
  return piecesOf(text).some(isCardNumber) || groupsOf(text).some(isCardNumber);
}

/**
 * Returns whether a telephone number contains a payment card number. Up to 15 digits after a plus sign or 00 never
 * count as a card number.
 */
export function isTelephoneWithCard(plain: string): boolean {
  return isShortTextWithCard(
    plain.replace(international, (number) =>
      digitsOf(number).replace(/^00/, "").length > MOST_INTERNATIONAL ? number : " ",
    ),
  );
}

/**
 * Returns whether a document number contains a payment card number. Digits in groups count for all card issuers. Digits
 * in one piece count only if they are a Visa number (16 digits, the first is 4), because national document numbers of
 * 14 to 18 digits can look like card numbers of other issuers.
 */
export function isDocumentWithCard(plain: string): boolean {
  const text = withoutUuids(plain);
  return (
    piecesOf(text).some((digits) => /^4[0-9]{15}$/.test(digits) && isCardNumber(digits)) ||
    groupsOf(text).some(isCardNumber)
  );
}

function piecesOf(plain: string): string[] {
  return plain.match(piece) ?? [];
}

function groupsOf(plain: string): string[] {
  return groups.flatMap((pattern) =>
    Array.from(plain.matchAll(pattern), ({ groups: found }) => digitsOf(found?.["number"] ?? "")),
  );
}

function digitsOf(text: string): string {
  return text.replace(/[^0-9]/g, "");
}
