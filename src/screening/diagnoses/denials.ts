import * as english from "./english-word-classes.js";
import type { Word } from "./read-words.js";
import { sameSentence, skipAhead, skipBack } from "./walk-words.js";
import * as is from "./word-classes.js";

/** The search for a word of {@link late} stops this many words after the start of the condition. */
const NEAR = 7;

/** Further words, beside {@link is.pronoun}, between a denial and its verb: `la` in `no la diagnosticaron`. */
const object = is.oneOf("lo la los las he hemos habian haya hayan");
/** Words before a noun for a diagnosis, or before a condition: `el` in `descartaron el diagnóstico de lupus`. */
const article = is.oneOf("el un una ningun the a an");
/** Words that name another condition after a denied one: `no me diagnosticaron gripa sino lupus`. */
const contrast = is.oneOf("sino pero but");
/** Words for a diagnosis that came late, but came: `no me diagnosticaron a tiempo el lupus`. */
const late = is.oneOf("tiempo antes hasta temprano oportunamente until till time before early soon");

/** Returns whether a Spanish word is denied: `tengo` in `no tengo lupus`, `detectado` in `no me han detectado asma`. */
export function isDenied(words: readonly Word[], at: number): boolean {
  const before = skipBack(words, at - 1, (word) => is.pronoun(word) || object(word), 3);
  return sameSentence(words, before, at) && is.not(words[before]);
}

/** Returns whether an English word is denied: `have` in `I do not really have lupus`. */
export function isDeniedInEnglish(words: readonly Word[], at: number): boolean {
  const before = skipBack(words, at - 1, english.auxiliary, 3);
  return sameSentence(words, before, at) && english.not(words[before]);
}

/**
 * Returns whether the diagnosis at index `at` is denied for the condition that begins at index `start`. The denial
 * stands in one of these places:
 * - before the word for the diagnosis: `no me diagnosticaron lupus`, `no tengo diagnóstico de lupus`
 * - before the condition: `el diagnóstico no es lupus`, `dx: no lupus`
 *
 * A denial before the word for the diagnosis does not count beside a word of {@link contrast} or {@link late}.
 */
export function isDeniedDiagnosis(words: readonly Word[], at: number, start: number): boolean {
  const link = skipBack(words, start - 1, article, 1);
  if (isDeniedInAny(words, link + 1) || (is.self(words[link]) && isDeniedInAny(words, link))) return true;
  return isDeniedInAny(words, verbOf(words, at)) && !isAffirmedLater(words, at, start);
}

function isDeniedInAny(words: readonly Word[], at: number): boolean {
  return isDenied(words, at) || isDeniedInEnglish(words, at);
}

/**
 * Returns the index of the word that a denial of the diagnosis at index `at` stands before:
 * - the verb: `tengo` in `no tengo un diagnóstico`. A label or a verb with another object does not count:
 *   `no tengo, dx lupus`, `no la tengo, diagnóstico: lupus`.
 * - the article: `un` in `sin un diagnóstico`. A definite diagnosis exists unless it is ruled out. So `el` counts in
 *   `descartaron el diagnóstico`, but not in `ni el diagnóstico`.
 * - else the diagnosis
 */
function verbOf(words: readonly Word[], at: number): number {
  const before = skipBack(words, at - 1, article, 1);
  const isDefinite = /^(?:el|the)$/.test(words[before + 1]?.text ?? "");
  if (isDefinite) return /^(?:descart|out$)/.test(words[before]?.text ?? "") ? before + 1 : at;
  const isVerb = is.having(words[before]) || english.having(words[before]) || words[before]?.text === "hay";
  const isObject = words[at]?.text.startsWith("diagnos") === true && !object(words[before - 1]);
  return isVerb && isObject ? before : before + 1;
}

function isAffirmedLater(words: readonly Word[], at: number, start: number): boolean {
  if (words.slice(at, start).some(contrast)) return true;
  const isOther = (word: Word | undefined) => word !== undefined && !late(word);
  const next = skipAhead(words, at + 1, isOther, start + NEAR - at);
  return sameSentence(words, next, at) && late(words[next]);
}
