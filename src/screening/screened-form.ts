import { showHiddenWords } from "./hidden-words.js";
import { showLatinLetters } from "./latin-letters.js";
import { mendSpelling } from "./mend-spelling.js";
import { toPlainText } from "./plain-text.js";

/**
 * Returns the plain text that the recognizers read. Disguised names of secrets (`p4ssw0rd`) and misspelled words that
 * introduce forbidden content (`clabe`) have their normal spelling in it. Words of Latin letters have no letters of
 * other scripts that look like Latin ones.
 */
export function toScreenedForm(text: string): string {
  return mendSpelling(showHiddenWords(showLatinLetters(toPlainText(text))));
}
