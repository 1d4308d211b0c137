import type { Word } from "./read-words.js";
import type { IsWord } from "./word-classes.js";

/** Whether a word is a number of up to three digits, such as an age. */
export function isNumber(word: Word | undefined): boolean {
  return word !== undefined && /^[0-9]{1,3}$/.test(word.text);
}

/** Whether both positions have words, and both words are in the same sentence. */
export function sameSentence(words: readonly Word[], at: number, other: number): boolean {
  const word = words[at];
  return word !== undefined && word.sentence === words[other]?.sentence;
}

/**
 * Walks backwards from the position `from` over numbers and over words for which `isSkipped` returns true. Stops after
 * at most `most` words. Returns the position at which it stops; there may be no word at this position.
 */
export function skipBack(words: readonly Word[], from: number, isSkipped: IsWord, most: number): number {
  let at = from;
  while (at > from - most && (isSkipped(words[at]) || isNumber(words[at]))) at -= 1;
  return at;
}

/**
 * Walks forwards from the position `from` over words for which `isSkipped` returns true. Stops after at most `most`
 * words. Returns the position at which it stops; there may be no word at this position.
 */
export function skipAhead(words: readonly Word[], from: number, isSkipped: IsWord, most: number): number {
  let at = from;
  while (at < from + most && isSkipped(words[at])) at += 1;
  return at;
}
