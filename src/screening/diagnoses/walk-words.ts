import type { Word } from "./read-words.js";
import type { IsWord } from "./word-classes.js";

/** Returns whether a word is a number of one to three digits, such as an age. */
export function isNumber(word: Word | undefined): boolean {
  return word !== undefined && /^[0-9]{1,3}$/.test(word.text);
}

/** Returns whether there are words at both indexes, and both words are in the same sentence. */
export function sameSentence(words: readonly Word[], at: number, other: number): boolean {
  const word = words[at];
  return word !== undefined && word.sentence === words[other]?.sentence;
}

/**
 * Walks backwards from the index `from`, over at most `most` words: numbers, and words for which `isSkipped` returns
 * true. Returns the index of the first word that is not skipped. There may be no word at this index.
 */
export function skipBack(words: readonly Word[], from: number, isSkipped: IsWord, most: number): number {
  let at = from;
  while (at > from - most && (isSkipped(words[at]) || isNumber(words[at]))) at -= 1;
  return at;
}

/**
 * Walks forwards from the index `from`, over at most `most` words for which `isSkipped` returns true. Returns the index
 * of the first word that is not skipped. There may be no word at this index.
 */
export function skipAhead(words: readonly Word[], from: number, isSkipped: IsWord, most: number): number {
  let at = from;
  while (at < from + most && isSkipped(words[at])) at += 1;
  return at;
}
