/** Matches a position without a letter or digit before it. So `password` also counts as a word in `db_password`. */
export const wordStart = "(?<![a-z0-9])";

/** Matches a position without a letter or digit after it. */
export const wordEnd = "(?![a-z0-9])";

/**
 * The separators that may stand between a word and its value. They exclude currency signs and the end of a sentence. A
 * line break is allowed only after a colon or an equals sign.
 *
 * Like every pattern source in this file, it is for text from `toPlainText`. Use the flags `iu`, or `u` for text in
 * lower case.
 */
export const gap = String.raw`(?:[:=]\s?|\.(?!\s)|[ #°"'()\[\]*_/>\p{Pd}]){0,4}`;

/**
 * Returns a pattern for any of `words`, a list separated by white space. `_` in a word matches the separators in
 * `api_key`, `api-key` and `API key`, or none.
 */
export function anyOf(words: string): string {
  return `(?:${words.trim().replaceAll("_", String.raw`[\s_-]{0,2}`).split(/\s+/).join("|")})`;
}

/**
 * Returns a pattern for 0 to `most` of `words`, each after a {@link gap}. Use it between a word and the word's value.
 */
export function upTo(most: number, words: string): string {
  return `(?:${gap}${anyOf(words)}${wordEnd}){0,${most}}`;
}

/**
 * Matches words that follow a code directly and name a door or place: `1234 de la entrada`. Such a code is not secret,
 * because everyone in the waiting room knows it.
 */
export const ofDoor = String.raw`\s(?:de|del|en|para|al?|of|for|on)\s(?:(?:la|el|las|los|este|esta|the)\s)?${anyOf(`doors? gate building elevator
  bathroom parking entrance lobby puertas? porton rejas?
  edificio torre parqueadero ascensor entrada bano conjunto porteria bodega`)}${wordEnd}`;
