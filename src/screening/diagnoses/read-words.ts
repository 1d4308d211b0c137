import { soundOf } from "../spelling.js";

/** A word or a number of a text: in lower case, and what it is looked up by. */
export interface Word {
  readonly text: string;
  /** Its sound, or itself where it has a digit or fewer than four letters, such as an abbreviation. */
  readonly key: string;
  /** Which sentence it stands in, counted from 0. */
  readonly sentence: number;
}

const wordPattern = /[a-z0-9]+/g;
const sentenceEnd = /[.!?;](?=\s|$)|\n/;
const LABELS: ReadonlySet<string> = new Set(["dx", "idx", "dxs", "diag", "diagn"]);

/** The words of a plain text in order. A point behind `Dx` ends no sentence, and neither does a line behind a colon. */
export function readWords(plain: string): Word[] {
  const lower = plain.toLowerCase();
  const words: Word[] = [];
  let sentence = 0;
  let end = 0;
  for (const { 0: text, index } of lower.matchAll(wordPattern)) {
    const between = lower.slice(end, index);
    const isLabel = LABELS.has(words.at(-1)?.text ?? "") || /[:=]\s*$/.test(between.slice(-8));
    if (!isLabel && sentenceEnd.test(between)) sentence += 1;
    words.push({ text, key: keyOf(text), sentence });
    end = index + text.length;
  }
  return words;
}

/** What a word is looked up by. */
export function keyOf(text: string): string {
  return text.length < 4 || text.length > 40 || /[0-9]/.test(text) ? text : soundOf(text);
}
