import { showHiddenWords } from "./hidden-words.js";
import { mendSpelling } from "./mend-spelling.js";
import { toPlainText } from "./plain-text.js";

/**
 * Converts a text to the form that the recognizers read: plain, with restored names of secrets and corrected key words.
 */
export function toScreenedForm(text: string): string {
  return mendSpelling(showHiddenWords(toPlainText(text)));
}
