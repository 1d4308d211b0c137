/** Pairs of a Cyrillic or Greek letter and the Latin letter that looks like it. */
const pairs = `АA ВB ЕE КK МM НH ОO РP СC ТT УY ХX ІI ЈJ ЅS аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw
  ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX αa ιi κk νv οo ρp υu χx`;
const latin: ReadonlyMap<string, string> = new Map(
  pairs.split(/\s+/).map(([other = "", letter = ""]) => [other, letter]),
);
const foreign = /[\u0370-\u03ff\u0400-\u052f]/g;
const word = /[\p{L}0-9]+/gu;

/**
 * Returns a plain text in which the words of Latin letters have no Cyrillic or Greek letters that look like Latin ones:
 * `cancer`, also if its `c` is Cyrillic. A word without a Latin letter stays as it is.
 */
export function showLatinLetters(plain: string): string {
  if (plain.search(foreign) < 0) return plain;
  return plain.replace(word, (letters) => (/[a-z]/i.test(letters) ? inLatin(letters) : letters));
}

function inLatin(letters: string): string {
  return letters.replace(foreign, (letter) => latin.get(letter) ?? letter);
}
