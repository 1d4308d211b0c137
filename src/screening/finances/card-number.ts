import { withoutUuids } from "./without-uuids.js";

/** Patterns for the card numbers of each issuer: its number ranges (ISO/IEC 7812) and the lengths in use. */
const issuers: readonly RegExp[] = [
  /^4(?:\d{12}|\d{15}|\d{18})$/, // Visa
  /^(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}$/, // Mastercard
  /^3[47]\d{13}$/, // American Express
  /^3(?:0[0-5]\d|095|[689]\d\d)\d{10}$/, // Diners Club
  /^6(?:011|4[4-9]\d|5\d\d)\d{12}(?:\d{3})?$/, // Discover
  /^35(?:2[89]|[3-8]\d)\d{12}$/, // JCB
  /^62\d{14,17}$/, // UnionPay
  /^(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{8,15}$/, // Maestro
];

/** The lengths of the groups of digits in which card numbers are written: `4-4-4-4` for `4111 1111 1111 1111`. */
const layouts: ReadonlySet<string> = new Set(["4-4-4-4", "4-6-5", "4-4-4-3", "4-6-4", "4-4-4-2", "4-4-4-4-3"]);
const MOST_GROUPS = 5;

/**
 * Matches groups of digits and the separators between them. A separator is one of `, ; : / \ | ~ '`, or 1 to 3 spaces,
 * points, dashes or similar characters.
 */
const chainPattern = /[0-9]+(?:(?:[,;:/\\|~']|[\s._*·•\p{Pd}]{1,3})[0-9]+)*/gu;
const groupPattern = /([0-9]+)([^0-9]*)/g;

/** A group of digits and the separator after it; the separator of the last group is empty. */
interface Group {
  readonly digits: string;
  readonly gap: string;
}

/**
 * Returns whether a plain text contains a payment card number. The number must be in an issuer's range and have a valid
 * check digit (Luhn, ISO/IEC 7812-1 annex B). Its digits must have one of these forms:
 * - They are in one piece, or in groups as in {@link layouts}. Other numbers may stand beside them.
 * - They are 15 or 16 digits in other groups of at most 6 digits, with equal separators. No other number stands beside
 *   them.
 *
 * One in ten arbitrary numbers has a valid check digit. So the rules about groups are needed to exclude most dates,
 * telephone numbers and identity documents.
 */
export function containsCardNumber(plain: string): boolean {
  return Array.from(withoutUuids(plain).matchAll(chainPattern), ([chain]) => groupsOf(chain)).some(
    (groups) => isCutCardNumber(groups) || groups.some((_, first) => startsCardNumber(groups, first)),
  );
}

function groupsOf(chain: string): Group[] {
  return Array.from(chain.matchAll(groupPattern), ([, digits = "", gap = ""]) => ({ digits, gap }));
}

function startsCardNumber(groups: readonly Group[], first: number): boolean {
  for (let count = 1; count <= MOST_GROUPS; count++) {
    const window = groups.slice(first, first + count).map(({ digits }) => digits);
    const layout = window.map(({ length }) => length).join("-");
    if ((count === 1 || layouts.has(layout)) && isCardNumber(window.join(""))) return true;
  }
  return false;
}

/**
 * Returns whether all groups together form a card number of 15 or 16 digits: `41 11 11 11 11 11 11 11`. All separators
 * must be equal, and start with a space, point, dash or similar character. A group of more than 6 digits is a separate
 * number, such as an identity document: the function then returns false.
 */
function isCutCardNumber(groups: readonly Group[]): boolean {
  if (groups.length > 16) return false;
  const [first, ...inner] = groups.slice(0, -1).map(({ gap }) => gap);
  if (first === undefined || !/^[\s._*·•\p{Pd}]/u.test(first) || inner.some((gap) => gap !== first)) return false;
  const digits = groups.map((group) => group.digits);
  const all = digits.join("");
  return digits.every(({ length }) => length <= 6) && (all.length === 15 || all.length === 16) && isCardNumber(all);
}

/** Returns whether digits are in a card issuer's range and have a valid check digit. */
export function isCardNumber(digits: string): boolean {
  return issuers.some((range) => range.test(digits)) && hasLuhnCheckDigit(digits);
}

function hasLuhnCheckDigit(digits: string): boolean {
  const sum = Array.from(digits, Number).reduceRight((total, digit, index) => {
    const isDoubled = (digits.length - index) % 2 === 0;
    return total + (isDoubled ? digit * 2 - (digit > 4 ? 9 : 0) : digit);
  }, 0);
  return sum % 10 === 0;
}
