/**
 * A text in the one form that the patterns read, so that accents, full-width characters, digits of other scripts and
 * characters that nobody sees make no difference: compatibility decomposition (Unicode NFKD) without marks, format
 * characters and whatever else is ignorable; ASCII digits; each run of white space as one space, or as one line feed if
 * it breaks the line. Upper and lower case stay. The length is at most 18 times that of the text.
 */
export function toPlainText(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu, "")
    .replace(/(?![0-9])\p{Nd}/gu, asciiDigit)
    .replace(/\s+/gu, (run) => (/[\n\r\u2028\u2029]/.test(run) ? "\n" : " "));
}

/** In the Basic Multilingual Plane the ten digits of a script start at a code point that ends in 0 or in 6. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  const place = code % 16;
  return String(/\p{Nd}/u.test(String.fromCodePoint(code - place)) ? place : place - 6);
}
