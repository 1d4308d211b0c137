import { soundOf } from "../spelling.js";

/** A word or a number of a text, in lower case. */
export interface Word {
  readonly text: string;
  /**
   * Words with the same key count as equal. The key is the sound of the word ({@link soundOf}), so `ipertencion` has
   * the same key as `hipertension`. A word with a digit, or with fewer than 4 or more than 40 letters, is its own key.
   */
  readonly key: string;
  /** The index, from 0, of the sentence of the text in which the word stands. */
  readonly sentence: number;
}

const wordPattern = /[a-z0-9]+/g;
const sentenceEnd = /[.!?;](?=\s|$)|\n/;
/** Matches a decimal point and the digits beside it, as in `7.5`. Such a point does not end a sentence. */
const DECIMAL_POINT = /^[0-9]\.[0-9]$/;
/**
 * Words directly before a diagnosis in notes of physicians: `Dx. lupus`. A point after such a word does not end a
 * sentence.
 */
const LABELS: ReadonlySet<string> = new Set(["dx", "idx", "dxs", "diag", "diagn"]);
/** Matches an abbreviation with points, as in `tengo V.I.H.`, without its last point. */
const WITH_POINTS = /(?<![a-z0-9.])[a-z](?:\.[a-z]){2,4}(?![a-z0-9])/g;
/**
 * Matches a denial that ends at a comma: `nunca,` in `no contestan nunca, tengo lupus`. Such a comma ends a sentence,
 * because the denial does not belong to the words after it. `no lo sé` needs no comma: `no lo sé tengo lupus`.
 */
const DENIAL_END = /(?<![a-z0-9])(?:(?:no|no se|nunca|jamas|tampoco|descart[a-z]{1,4}),|no l[ao]s? se[^a-z0-9])$/;
/** {@link DENIAL_END} reads at most this many characters before the end. */
const DENIAL_LENGTH = 13;

/**
 * Returns the words of a plain text in order. A sentence does not end after one of the {@link LABELS}, such as `Dx`,
 * even at a point or a line break. It does not end at a line break after a colon or `=` either. It ends after a denial:
 * {@link DENIAL_END}. An abbreviation with points is one word: {@link WITH_POINTS}.
 */
export function readWords(plain: string): Word[] {
  const lower = plain.toLowerCase().replace(WITH_POINTS, (letters) => letters.replaceAll(".", ""));
  const words: Word[] = [];
  let sentence = 0;
  let end = 0;
  for (const { 0: text, index } of lower.matchAll(wordPattern)) {
    const between = lower.slice(end, index);
    const isLabel = LABELS.has(words.at(-1)?.text ?? "") || /[:=]\s*$/.test(between.slice(-8));
    const isInNumber = DECIMAL_POINT.test(lower.slice(end - 1, index + 1));
    const isAfterDenial = DENIAL_END.test(lower.slice(Math.max(0, end - DENIAL_LENGTH), end + 1));
    if (!isLabel && !isInNumber && (isAfterDenial || sentenceEnd.test(between))) sentence += 1;
    words.push({ text, key: keyOf(text), sentence });
    end = index + text.length;
  }
  return words;
}

/** Returns the {@link Word.key} of a word in lower case. */
export function keyOf(text: string): string {
  return text.length < 4 || text.length > 40 || /[0-9]/.test(text) ? text : soundOf(text);
}
