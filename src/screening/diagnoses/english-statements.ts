import * as is from "./english-word-classes.js";
import type { Condition } from "./find-conditions.js";
import type { Word } from "./read-words.js";
import { isNumber, sameSentence, skipAhead, skipBack } from "./walk-words.js";

/** The maximum distance, in words, between the name of a condition and a word that states it, such as `have`. */
const NEAR = 8;

/**
 * Whether an English text says that a person has a condition. These statements count:
 * - a finding: `diagnosed with …`
 * - having the condition: `I have …`, `my mother's lupus`, `I am diabetic`
 * - a treatment or a death with the condition as its cause
 *
 * Conditions of a service or a topic (`diabetes workshop`), denied conditions and conditions of people in general do
 * not count. `named` contains the words of all conditions in the text.
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

/** Whether the condition is part of the name of a topic: `diabetes workshop`, `HIV and hepatitis testing`. */
function isOfTopic({ words, named }: Text, { start, end }: Condition): boolean {
  const isPart = (word: Word | undefined) => word !== undefined && (named.has(word) || /^(?:and|or)$/.test(word.text));
  const next = skipAhead(words, end, isPart, NEAR);
  return sameSentence(words, next, start) && is.topic(words[next]);
}

/** Whether a word for a person follows the condition: `cancer survivor`. */
function isBearer({ words }: Text, { start, end }: Condition): boolean {
  return sameSentence(words, end, start) && is.bearer(words[end]);
}

/** Whether a possessive stands before the condition: `my lupus`, `my mother's chronic kidney disease`. */
function isTheirs({ words }: Text, { start }: Condition): boolean {
  const isAdjective = (word: Word | undefined) => is.filler(word) && !is.preposition(word) && !is.owner(word);
  const at = skipBack(words, start - 1, isAdjective, 4);
  if (!sameSentence(words, at, start)) return false;
  return is.owner(words[at]) || (words[at]?.text === "s" && is.person(words[at - 1]));
}

/**
 * Whether a word before the condition states the condition. Returns false for denials, people in general and topics.
 * The search goes backwards. It stops at a word that cannot stand between the statement and the condition.
 */
function isToldBefore(text: Text, { start }: Condition): boolean {
  const { words, named } = text;
  for (let at = start - 1; at >= start - NEAR && sameSentence(words, at, start); at--) {
    const word = words[at];
    if (word === undefined) return false;
    if (isTold(words, at, start)) return !isDenied(words, at) && !isGeneral(words, at) && !isTopicBefore(words, at);
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
 * Whether the form of `to be` at index `at` follows a report: `they told me it is …`, `the doctor said I have been …`.
 * The word before `at` must be `it`, `this`, `that`, `what`, `which` or a word of {@link is.having}. A word such as
 * `told`, `doctor` or `results` must stand before, in the same sentence, at most {@link NEAR} words from `at`.
 */
function isExplained(words: readonly Word[], at: number): boolean {
  if (!/^(?:it|this|that|what|which)$/.test(words[at - 1]?.text ?? "") && !is.having(words[at - 1])) return false;
  for (let i = at; i >= at - NEAR && sameSentence(words, i, at); i--) if (is.telling(words[i])) return true;
  return false;
}

/**
 * Whether the words after the condition state it: `HIV positive`, `the lupus that I suffer from`,
 * `cancer was diagnosed`.
 */
function isToldAfter({ words }: Text, { start, end }: Condition): boolean {
  if (!sameSentence(words, end, start) || isTopicBefore(words, start)) return false;
  if (/^(?:positive|reactive)$/.test(words[end]?.text ?? "")) return true;
  const isLink = (word: Word | undefined) => is.being(word) || is.anyone(word) || isLinkWord(word);
  const next = skipAhead(words, end, isLink, NEAR);
  if (!sameSentence(words, next, start) || isDenied(words, next)) return false;
  if (/^diagnosed$/.test(words[next]?.text ?? "")) return true;
  return next > end && words.slice(end, next).some(({ text }) => /^(?:i|he|she)$/.test(text)) && is.having(words[next]);
}

function isLinkWord(word: Word | undefined): boolean {
  return word !== undefined && /^(?:that|which|i|he|she|we|they|my|the|recently|has|have|had)$/.test(word.text);
}

/** Whether the condition is that of a particular person: `I am diabetic`, `my diabetic mother`. */
function isSomebody({ words, named }: Text, { start, end }: Condition): boolean {
  if (is.topic(words[end])) return false;
  if (is.owner(words[start - 1]) && is.person(words[end])) return true;
  const isBetween = (word: Word | undefined) =>
    word !== undefined && (named.has(word) || (is.filler(word) && !is.preposition(word) && word.text !== "that"));
  const at = skipBack(words, start - 1, isBetween, NEAR);
  if (!sameSentence(words, at, start) || !is.being(words[at]) || isDenied(words, at)) return false;
  return isSubject(words, at);
}

/** Whether the form of `to be` at position `at` has a person as its subject, and not a thing or people in general. */
function isSubject(words: readonly Word[], at: number): boolean {
  if (/^(?:im|hes|shes)$/.test(words[at]?.text ?? "")) return true;
  const before = skipBack(words, at - 1, is.auxiliary, 3);
  if (!sameSentence(words, before, at)) return false;
  const subject = words[before];
  if (subject?.text === "who") return is.person(words[before - 1]);
  if (is.persons(subject)) return is.owner(words[before - 1]);
  return /^(?:i|he|she|we)$/.test(subject?.text ?? "") || is.person(subject);
}

function isDenied(words: readonly Word[], at: number): boolean {
  const before = skipBack(words, at - 1, is.auxiliary, 3);
  return sameSentence(words, before, at) && is.not(words[before]);
}

function isGeneral(words: readonly Word[], at: number): boolean {
  for (let i = at - 1; i >= at - NEAR && sameSentence(words, i, at); i--) if (isNoOne(words, i)) return true;
  const before = skipBack(words, at - 1, is.auxiliary, 3);
  if (!sameSentence(words, before, at)) return false;
  if (words[before]?.text === "who") return !is.person(words[before - 1]);
  return is.anyone(words[before]);
}

/**
 * Whether a service or a topic stands before the word at `at`: `talk about living with HIV`,
 * `unit for a patient with cancer`.
 */
function isTopicBefore(words: readonly Word[], at: number): boolean {
  const before = skipBack(words, at - 1, (word) => is.filler(word) || word?.text === "about", 4);
  return sameSentence(words, before, at) && before < at - 1 && is.topic(words[before]) && !is.telling(words[before]);
}

/** Whether the word at `at` means no person: `no one in my family has`. */
function isNoOne(words: readonly Word[], at: number): boolean {
  const { text } = words[at] ?? {};
  return text === "nobody" || text === "none" || (text === "no" && words[at + 1]?.text === "one");
}
