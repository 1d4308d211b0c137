/**
 * Matches a position without a letter or digit directly before it. So `password` also counts as a word in
 * `db_password`.
 */
export const wordStart = "(?<![a-z0-9])";

/** Matches a position without a letter or digit directly after it. */
export const wordEnd = "(?![a-z0-9])";

/**
 * Matches 0 to 4 separators between a word and its value, such as `: ` in `clave: 1234`. Currency signs and the end of
 * a sentence do not match. A line break matches only after a colon or an equals sign.
 *
 * All pattern sources in this file are for text from `toPlainText`. Use the flags `iu`, or `u` for text in lower case.
 */
export const gap = String.raw`(?:[:=]\s?|\.(?!\s)|[ #°"'()\[\]*_/>\p{Pd}]){0,4}`;

/**
 * Returns a pattern for any of `words`, a list separated by white space. `_` in a word matches up to two spaces,
 * hyphens or underscores: `api_key` matches `api key`, `api-key` and `apikey`.
 */
export function anyOf(words: string): string {
  return `(?:${words.trim().replaceAll("_", String.raw`[\s_-]{0,2}`).split(/\s+/).join("|")})`;
}

/**
 * Returns a pattern for 0 to `most` of `words`, each after a {@link gap}. Use it for the words between a word and its
 * value, such as `del correo` in `clave del correo: 1234`.
 */
export function upTo(most: number, words: string): string {
  return `(?:${gap}${anyOf(words)}${wordEnd}){0,${most}}`;
}

/**
 * Matches the name of a door or place after a code: ` de la entrada` in `1234 de la entrada`. Such a code is not
 * secret, because everyone in the waiting room knows it.
 */
export const ofDoor = String.raw`\s(?:de|del|en|para|al?|of|for|on)\s(?:(?:la|el|las|los|este|esta|the)\s)?${anyOf(`doors? gate building elevator
  bathroom parking entrance lobby puertas? porton rejas?
  edificio torre parqueadero ascensor entrada bano conjunto porteria bodega`)}${wordEnd}`;
