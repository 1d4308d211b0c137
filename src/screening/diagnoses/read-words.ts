import { soundOf } from "../spelling.js";

/** A word or a number of a text, in lower case. */
export interface Word {
  readonly text: string;
  /**
   * The key for lookups: the sound of the word. A word with a digit, or with fewer than 4 or more than 40 letters, is
   * its own key.
   */
  readonly key: string;
  /** The index of the sentence that contains the word, from 0. */
  readonly sentence: number;
}

const wordPattern = /[a-z0-9]+/g;
const sentenceEnd = /[.!?;](?=\s|$)|\n/;
/** The point of a number such as `7.5`, with the digits beside it. */
const DECIMAL_POINT = /^[0-9]\.[0-9]$/;
const LABELS: ReadonlySet<string> = new Set(["dx", "idx", "dxs", "diag", "diagn"]);

/**
 * Returns the words of a plain text in order. After a label such as `Dx`, the sentence continues, even at a full stop
 * or a line break. It also continues at a line break after a colon or `=`.
 */
export function readWords(plain: string): Word[] {
  const lower = plain.toLowerCase();
  const words: Word[] = [];
  let sentence = 0;
  let end = 0;
  for (const { 0: text, index } of lower.matchAll(wordPattern)) {
    const between = lower.slice(end, index);
    const isLabel = LABELS.has(words.at(-1)?.text ?? "") || /[:=]\s*$/.test(between.slice(-8));
    const isInNumber = DECIMAL_POINT.test(lower.slice(end - 1, index + 1));
    if (!isLabel && !isInNumber && sentenceEnd.test(between)) sentence += 1;
    words.push({ text, key: keyOf(text), sentence });
    end = index + text.length;
  }
  return words;
}

/** Returns the key of a word for lookups, as {@link Word.key} describes it. */
export function keyOf(text: string): string {
  return text.length < 4 || text.length > 40 || /[0-9]/.test(text) ? text : soundOf(text);
}
