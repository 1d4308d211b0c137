import { withoutUuids } from "./without-uuids.js";

/** The country codes of the IBAN registry (SWIFT, ISO 13616), each with the length of an IBAN of that country. */
const lengths: ReadonlyMap<string, number> = new Map(
  `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24
   FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32
   LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24
   RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30`
    .split(/\s+/)
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

const startPattern = /(?<![A-Za-z0-9])(?:[A-Z]{2}[\s._\p{Pd}]{0,3}|[A-Za-z]{2})[0-9][\s._\p{Pd}]{0,3}[0-9]/gu;
const separator = /[\s._\p{Pd}]/u;
const MOST_SEPARATORS = 3;
const LEAST_DIGITS = 6;

/**
 * Returns whether a plain text contains an IBAN: a country code of the registry, the length for this country, and valid
 * check digits (ISO 7064 mod 97-10). Words such as `de` look like country codes. Three more rules exclude them:
 * - There must be at least {@link LEAST_DIGITS} digits after the check digits.
 * - There must be no separator after a country code that is not in capitals.
 * - If there are letters after the check digits, the IBAN must be in one piece or in groups of four.
 */
export function containsIban(plain: string): boolean {
  const text = withoutUuids(plain);
  return Array.from(text.matchAll(startPattern)).some(({ 0: match, index }) => {
    const pieces = piecesFrom(text, index, lengths.get(match.slice(0, 2).toUpperCase()) ?? 0);
    return pieces !== undefined && isIban(pieces);
  });
}

/**
 * Returns the first `length` letters and digits from index `start`, cut into pieces at the separators. Returns
 * undefined if:
 * - fewer than `length` letters and digits follow in the text
 * - another character, or more than {@link MOST_SEPARATORS} separators in a row, stand between two of them
 * - a letter or digit directly follows the last of them
 */
function piecesFrom(plain: string, start: number, length: number): string[] | undefined {
  const pieces = [""];
  let missing = length;
  let skipped = 0;
  for (let i = start; missing > 0; i++) {
    const character = plain[i] ?? "";
    if (/^[a-z0-9]$/i.test(character)) {
      if (skipped > 0) pieces.push("");
      pieces.push(`${pieces.pop()}${character}`);
      skipped = 0;
      missing -= 1;
      if (missing === 0 && /^[a-z0-9]/i.test(plain.slice(i + 1, i + 2))) return undefined;
    } else if (!separator.test(character) || ++skipped > MOST_SEPARATORS) return undefined;
  }
  return pieces;
}

function isIban(pieces: readonly string[]): boolean {
  const iban = pieces.join("").toUpperCase();
  const account = iban.slice(4);
  const inFours = pieces.slice(0, -1).every(({ length }) => length === 4);
  if (!inFours && /[A-Z]/.test(account)) return false;
  return account.replace(/[A-Z]/g, "").length >= LEAST_DIGITS && remainder(`${account}${iban.slice(0, 4)}`) === 1;
}

/** Returns the remainder modulo 97 of the number that `text` stands for. The letters A to Z stand for 10 to 35. */
function remainder(text: string): number {
  return Array.from(text, (character) => Number.parseInt(character, 36)).reduce(
    (rest, value) => (rest * (value < 10 ? 10 : 100) + value) % 97,
    0,
  );
}
