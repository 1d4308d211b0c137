/**
 * Returns the plain text of a text: the form in which this folder searches all texts. The result is at most 18 times as
 * long as the text.
 * - Applies compatibility decomposition (Unicode NFKD). For example, full-width letters become ordinary letters.
 * - Removes accents and other marks, format characters and other invisible characters.
 * - Converts the digits of all scripts to ASCII digits.
 * - Replaces adjacent white space by one space, or by one line feed if it contains a line break.
 * - Keeps upper and lower case.
 */
export function toPlainText(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu, "")
    .replace(/(?![0-9])\p{Nd}/gu, asciiDigit)
    .replace(/\s+/gu, (run) => (/[\n\r\u2028\u2029]/.test(run) ? "\n" : " "));
}

/**
 * Returns the ASCII digit for a digit of any script: `3` for the Devanagari digit `३`. The digits of each script are
 * ten consecutive code points, and the digits of another script can follow them directly. So the function counts from
 * the first of the adjacent digits, modulo 10.
 */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let first = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--;
  return String((code - first) % 10);
}
