/** Here no letter or digit precedes: the start of a word, or of a part of an identifier such as `db_password`. */
export const wordStart = "(?<![a-z0-9])";

/** Here no letter or digit follows. */
export const wordEnd = "(?![a-z0-9])";

/**
 * What may stand between words and values that belong together: no end of a sentence, no sign of a currency, and a
 * line break only behind a colon or the like. As all of this file it is the source of a pattern with the flags `iu`, or `u` where
 * the text is in lower case, for text as toPlainText gives it.
 */
export const gap = String.raw`(?:[:=]\s?|\.(?!\s)|[ #°"'()\[\]*_/>\p{Pd}]){0,4}`;

/** Any of the words, separated by blanks. `_` in one stands for what may join its parts: `api_key`, `API key`. */
export function anyOf(words: string): string {
  return `(?:${words.trim().replaceAll("_", String.raw`[\s_-]{0,2}`).split(/\s+/).join("|")})`;
}

/** Up to `most` of the words that may stand between a word and its value, each behind a {@link gap}. */
export function upTo(most: number, words: string): string {
  return `(?:${gap}${anyOf(words)}${wordEnd}){0,${most}}`;
}

/** Behind the code of a door, which the whole waiting room knows: where it opens. */
export const ofDoor = String.raw`\s(?:de|del|en|para|al?)\s(?:(?:la|el|las|los|este|esta)\s)?${anyOf(`puertas? porton rejas?
  edificio torre parqueadero ascensor entrada bano conjunto porteria bodega`)}${wordEnd}`;
