import { showHiddenWords } from "./hidden-words.js";
import { mendSpelling } from "./mend-spelling.js";
import { toPlainText } from "./plain-text.js";

/**
 * Returns the plain text that the recognizers read. Disguised names of secrets (`p4ssw0rd`) and misspelled words that
 * introduce forbidden content (`clabe`) have their normal spelling in it.
 */
export function toScreenedForm(text: string): string {
  return mendSpelling(showHiddenWords(toPlainText(text)));
}
