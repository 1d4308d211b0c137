import { isDeniedInEnglish } from "./denials.js";
import * as is from "./english-word-classes.js";
import type { Condition } from "./find-conditions.js";
import type { Word } from "./read-words.js";
import { isNumber, sameSentence, skipAhead, skipBack } from "./walk-words.js";

/** The searches in this file go at most this many words from the condition or, in some cases, from a verb. */
const NEAR = 8;

/**
 * Returns whether a text states a condition in English: it says that a person has the condition. These statements
 * count:
 * - a finding: `diagnosed with lupus`
 * - having the condition: `I have lupus`, `my mother's lupus`, `I am diabetic`
 * - a treatment of the condition, or a death from it: `died of cancer`
 *
 * These do not count:
 * - a condition next to a topic: `diabetes workshop`
 * - a denied condition: `I do not have lupus`
 * - a condition of people in general: `people who have lupus`
 *
 * Returns false for conditions of the kinds UNCLEAR and PEOPLE. `words` are the words of the text. `named` contains the
 * words that belong to the name of a condition.
 */
export function isStatedInEnglish(words: readonly Word[], named: ReadonlySet<Word>, condition: Condition): boolean {
  if (condition.kind === "UNCLEAR" || condition.kind === "PEOPLE") return false;
  const text = { words, named };
  if (condition.kind === "PERSON") return isSomebody(text, condition);
  if (isOfTopic(text, condition)) return false;
  if (isBearer(text, condition) && isSomebody(text, condition)) return true;
  return isTheirs(text, condition) || isToldBefore(text, condition) || isToldAfter(text, condition);
}

interface Text {
  readonly words: readonly Word[];
  readonly named: ReadonlySet<Word>;
}

/**
 * Returns whether a topic follows the condition: `diabetes workshop`. Words of other conditions, `and` and `or` may
 * stand between: `HIV and hepatitis testing`.
 */
function isOfTopic({ words, named }: Text, { start, end }: Condition): boolean {
  const isPart = (word: Word | undefined) => word !== undefined && (named.has(word) || /^(?:and|or)$/.test(word.text));
  const next = skipAhead(words, end, isPart, NEAR);
  return sameSentence(words, next, start) && is.topic(words[next]);
}

/** Returns whether a word of {@link is.bearer} follows the condition directly: `cancer survivor`. */
function isBearer({ words }: Text, { start, end }: Condition): boolean {
  return sameSentence(words, end, start) && is.bearer(words[end]);
}

/**
 * Returns whether a possessive stands before the condition: `my lupus`, `my mother's lupus`. Adjectives may stand
 * between: `my severe lupus`.
 */
function isTheirs({ words }: Text, { start }: Condition): boolean {
  const isAdjective = (word: Word | undefined) => is.filler(word) && !is.preposition(word) && !is.owner(word);
  const at = skipBack(words, start - 1, isAdjective, 4);
  if (!sameSentence(words, at, start)) return false;
  return is.owner(words[at]) || (words[at]?.text === "s" && is.person(words[at - 1]));
}

/**
 * Returns whether a word before the condition states it, such as `have` in `I have lupus`. Returns false if the word is
 * denied, is about people in general or follows a topic. The search goes backwards from the condition. It skips
 * fillers, forms of `to be`, persons, numbers and other conditions, and stops at any other word.
 */
function isToldBefore(text: Text, { start }: Condition): boolean {
  const { words, named } = text;
  for (let at = start - 1; at >= start - NEAR && sameSentence(words, at, start); at--) {
    const word = words[at];
    if (word === undefined) return false;
    if (isTold(words, at, start))
      return !isDeniedInEnglish(words, at) && !isGeneral(words, at) && !isTopicBefore(words, at);
    if (!(is.filler(word) || is.being(word) || is.person(word) || isNumber(word) || named.has(word))) return false;
  }
  return false;
}

function isTold(words: readonly Word[], at: number, start: number): boolean {
  const path = words.slice(at + 1, start);
  const isJoined = path.some((word) => is.preposition(word));
  if (is.having(words[at])) return !isJoined || words[at]?.text.startsWith("suffer") === true;
  if (is.caused(words[at])) return isJoined;
  if (is.person(words[at])) return path.some(({ text }) => text === "with");
  if (is.finding(words[at])) return !path.some(({ text }) => text === "by" || text === "to");
  return is.being(words[at]) && isExplained(words, at);
}

/**
 * Returns whether the form of `to be` at index `at` follows a report: `is` in `they told me it is lupus`. Requires two
 * words:
 * - directly before `at`: `it`, `this`, `that`, `what`, `which` or a word of {@link is.having}
 * - earlier in the sentence, at most {@link NEAR} words before `at`: a word of {@link is.telling}, such as `told`
 */
function isExplained(words: readonly Word[], at: number): boolean {
  if (!/^(?:it|this|that|what|which)$/.test(words[at - 1]?.text ?? "") && !is.having(words[at - 1])) return false;
  for (let i = at; i >= at - NEAR && sameSentence(words, i, at); i--) if (is.telling(words[i])) return true;
  return false;
}

/**
 * Returns whether the words after the condition state it: `HIV positive`, `cancer was diagnosed`,
 * `the lupus that I suffer from`, `the diabetes I have`.
 */
function isToldAfter({ words }: Text, { start, end }: Condition): boolean {
  if (!sameSentence(words, end, start) || isTopicBefore(words, start)) return false;
  if (/^(?:positive|reactive)$/.test(words[end]?.text ?? "")) return true;
  const isLink = (word: Word | undefined) => is.being(word) || is.anyone(word) || isLinkWord(word);
  const next = skipAhead(words, end, isLink, NEAR);
  if (isHad(words, start, end, next)) return true;
  if (!sameSentence(words, next, start) || isDeniedInEnglish(words, next)) return false;
  if (/^diagnosed$/.test(words[next]?.text ?? "")) return true;
  return isOfSubject(words, end, next) && is.having(words[next]) && !isAuxiliary(words, next);
}

/**
 * Returns whether a relative clause with `have`, `has` or `had` follows the condition from `start` to `end`:
 * `lupus that I have`, `the lupus I have`. The clause needs `that` or `which`, or `the` or `this` before the condition.
 * The verb must be before the index `next`.
 */
function isHad(words: readonly Word[], start: number, end: number, next: number): boolean {
  const at = skipBack(words, next - 1, (word) => !isFormOfHave(word), next - end);
  if (at < end || !isFormOfHave(words[at]) || !sameSentence(words, at, start)) return false;
  const before = skipBack(words, start - 1, (word) => is.filler(word) && !isDeterminer(word), 3);
  const isLinked = /^(?:that|which)$/.test(words[end]?.text ?? "");
  const isDefinite = sameSentence(words, before, start) && isDeterminer(words[before]);
  return (isLinked || isDefinite) && isOfSubject(words, end, at) && !isAuxiliary(words, at);
}

function isFormOfHave(word: Word | undefined): boolean {
  return word !== undefined && /^(?:have|has|had|ve)$/.test(word.text);
}

function isDeterminer(word: Word | undefined): boolean {
  return word !== undefined && /^(?:the|this|that)$/.test(word.text);
}

function isOfSubject(words: readonly Word[], end: number, verb: number): boolean {
  return words.slice(end, verb).some(({ text }) => /^(?:i|he|she)$/.test(text));
}

/** Returns whether the form of `to have` at index `at` has another verb or object after it: `I have heard`. */
function isAuxiliary(words: readonly Word[], at: number): boolean {
  const next = words[at + 1];
  if (!isFormOfHave(words[at]) || !sameSentence(words, at + 1, at)) return false;
  return is.topic(next) || is.object(next) || isNumber(next) || /^[a-z]{2,}ed$/.test(next?.text ?? "");
}

function isLinkWord(word: Word | undefined): boolean {
  return word !== undefined && /^(?:that|which|i|he|she|we|they|my|the|recently|has|have|had)$/.test(word.text);
}

/**
 * Returns whether the words from `start` to `end` describe a particular person: `I am diabetic`, `my diabetic mother`,
 * `she is a cancer survivor`.
 */
function isSomebody({ words, named }: Text, { start, end }: Condition): boolean {
  if (is.topic(words[end])) return false;
  if (is.owner(words[start - 1]) && is.person(words[end])) return true;
  const isBetween = (word: Word | undefined) =>
    word !== undefined && (named.has(word) || (is.filler(word) && !is.preposition(word) && word.text !== "that"));
  const at = skipBack(words, start - 1, isBetween, NEAR);
  if (!sameSentence(words, at, start) || !is.being(words[at]) || isDeniedInEnglish(words, at)) return false;
  return isSubject(words, at);
}

/**
 * Returns whether the subject of the form of `to be` at index `at` is a particular person: `my mother is`. Returns
 * false for things and for people in general: `the clinic is`, `people are`.
 */
function isSubject(words: readonly Word[], at: number): boolean {
  if (/^(?:im|hes|shes)$/.test(words[at]?.text ?? "")) return true;
  const before = skipBack(words, at - 1, is.auxiliary, 3);
  if (!sameSentence(words, before, at)) return false;
  const subject = words[before];
  if (subject?.text === "who") return is.person(words[before - 1]);
  if (is.persons(subject)) return is.owner(words[before - 1]);
  return /^(?:i|he|she|we)$/.test(subject?.text ?? "") || is.person(subject);
}

function isGeneral(words: readonly Word[], at: number): boolean {
  if (words[at - 1]?.text === "i" && !/^(?:if|whether)$/.test(words[at - 2]?.text ?? "")) return false;
  for (let i = at - 1; i >= at - NEAR && sameSentence(words, i, at); i--) if (isNoOne(words, i)) return true;
  const before = skipBack(words, at - 1, is.auxiliary, 3);
  if (!sameSentence(words, before, at)) return false;
  if (words[before]?.text === "who") return !is.person(words[before - 1]);
  return is.anyone(words[before]);
}

/**
 * Returns whether a topic stands before the word at index `at`, with at least one word such as `about` or `a` between:
 * `talk about living with HIV`, `unit for a patient with cancer`. Topics that are words of {@link is.telling}, such as
 * `doctor`, do not count here.
 */
function isTopicBefore(words: readonly Word[], at: number): boolean {
  const before = skipBack(words, at - 1, (word) => is.filler(word) || word?.text === "about", 4);
  return sameSentence(words, before, at) && before < at - 1 && is.topic(words[before]) && !is.telling(words[before]);
}

/** Returns whether the word at index `at` is `nobody`, `none` or the `no` of `no one`. */
function isNoOne(words: readonly Word[], at: number): boolean {
  const { text } = words[at] ?? {};
  return text === "nobody" || text === "none" || (text === "no" && words[at + 1]?.text === "one");
}
