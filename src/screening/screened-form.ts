import { showHiddenWords } from "./hidden-words.js";
import { mendSpelling } from "./mend-spelling.js";
import { toPlainText } from "./plain-text.js";

/**
 * Converts a text for the recognizers: removes formatting, restores disguised names of secrets (`p4ssw0rd`) and
 * corrects misspelled key words.
 */
export function toScreenedForm(text: string): string {
  return mendSpelling(showHiddenWords(toPlainText(text)));
}
