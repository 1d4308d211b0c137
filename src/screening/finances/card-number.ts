/** The ranges of numbers that issuers give out (ISO/IEC 7812), each with the lengths in use. */
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

/** How cards are printed and forms group their numbers. */
const layouts: ReadonlySet<string> = new Set(["4-4-4-4", "4-6-5", "4-4-4-3", "4-6-4", "4-4-4-2", "4-4-4-4-3"]);
const MOST_GROUPS = 5;

/** Groups of digits with one sign between them, or up to three that are blanks, points, dashes and the like. */
const chainPattern = /[0-9]+(?:(?:[,;:/\\|~']|[\s._*·•\p{Pd}]{1,3})[0-9]+)*/gu;
const groupPattern = /([0-9]+)([^0-9]*)/g;

/** Digits, and what stands between them and the next group of the chain: nothing behind the last one. */
interface Group {
  readonly digits: string;
  readonly gap: string;
}

/**
 * Whether a plain text holds the number of a payment card: in an issuer's range and right by its check digit (Luhn,
 * ISO/IEC 7812-1 annex B). The digits stand together or in groups as on cards, whatever separates them, among other
 * numbers too; or they are cut anywhere into short groups by one and the same separator, with no other number beside
 * them. So lists of dates, telephones and identity documents, of which one in ten would pass the check, are not taken
 * for one.
 */
export function containsCardNumber(plain: string): boolean {
  return Array.from(plain.matchAll(chainPattern), ([chain]) => groupsOf(chain)).some(
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

/** Long groups are numbers of their own, such as two identity documents. */
function isCutCardNumber(groups: readonly Group[]): boolean {
  if (groups.length > 16) return false;
  const [first, ...inner] = groups.slice(0, -1).map(({ gap }) => gap);
  if (first === undefined || !/^[\s._*·•\p{Pd}]/u.test(first) || inner.some((gap) => gap !== first)) return false;
  const digits = groups.map((group) => group.digits);
  const all = digits.join("");
  return digits.every(({ length }) => length <= 6) && (all.length === 15 || all.length === 16) && isCardNumber(all);
}

function isCardNumber(digits: string): boolean {
  return issuers.some((range) => range.test(digits)) && hasLuhnCheckDigit(digits);
}

function hasLuhnCheckDigit(digits: string): boolean {
  const sum = Array.from(digits, Number).reduceRight((total, digit, index) => {
    const isDoubled = (digits.length - index) % 2 === 0;
    return total + (isDoubled ? digit * 2 - (digit > 4 ? 9 : 0) : digit);
  }, 0);
  return sum % 10 === 0;
}
