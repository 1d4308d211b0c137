import { isDenied, isDeniedDiagnosis } from "./denials.js";
import { isStatedInEnglish } from "./english-statements.js";
import { type Condition, findConditions } from "./find-conditions.js";
import { readWords, type Word } from "./read-words.js";
import { isNumber, sameSentence, skipAhead, skipBack } from "./walk-words.js";
import * as is from "./word-classes.js";

/** The search for a word that states a condition, such as `tengo`, stops after about this many words. */
const NEAR = 7;
/** Like {@link NEAR}, for conditions of the kind UNCLEAR. */
const CLOSE = 3;

const code = /^[a-z][0-9][0-9ab][0-9a-z]{0,3}$/;

interface Text {
  readonly words: readonly Word[];
  /** The words of the text that belong to the name of any condition. */
  readonly named: ReadonlySet<Word>;
}

/**
 * Returns whether a plain text states a condition: it says that a person has the condition. These statements count:
 * - a diagnosis or a finding: `me diagnosticaron lupus`, `dx lupus`, `le detectaron lupus`
 * - having or suffering from the condition: `tengo lupus`, `mi diabetes`, `soy hipertenso`
 * - a treatment of the condition, or a death from it: `murió de cáncer`
 * - the condition beside its ICD-10 code: `hipertensión I10`
 *
 * These do not count:
 * - a condition of a service or another topic: `charla de diabetes`, `programa de hipertensos`
 * - a condition with a denied verb or diagnosis: `no tengo lupus`, `no me diagnosticaron lupus`
 * - a condition of people in general: `quien tiene lupus`
 */
export function statesDiagnosis(plain: string): boolean {
  const words = readWords(plain);
  const conditions = findConditions(words);
  const named = new Set(conditions.flatMap(({ start, end }) => words.slice(start, end)));
  return conditions.some(
    (condition) => isStated({ words, named }, condition) || isStatedInEnglish(words, named, condition),
  );
}

function isStated(text: Text, condition: Condition): boolean {
  if (isDiagnosed(text, condition)) return true;
  if (condition.kind === "UNCLEAR") return isSuffered(text, condition);
  if (condition.kind === "PERSON" || condition.kind === "PEOPLE") return isSomebody(text, condition);
  return isTheirs(text, condition) || isToldBefore(text, condition) || isToldAfter(text, condition);
}

/**
 * Returns whether a word for a diagnosis stands before the condition: `me diagnosticaron lupus`. At most seven words
 * may stand between them (three for UNCLEAR). Returns false in these cases:
 * - The word for a diagnosis is not about a person: `centro de diagnóstico`, `diagnóstico temprano`.
 * - A topic stands between it and the condition: `diagnóstico en la charla de lupus`. Words of {@link is.bystander} do
 *   not count as topics here.
 * - The diagnosis is denied: `no me diagnosticaron lupus`.
 */
function isDiagnosed({ words }: Text, { kind, start }: Condition): boolean {
  const reach = kind === "UNCLEAR" ? CLOSE : NEAR;
  for (let i = start - 1; i >= start - 1 - reach && sameSentence(words, i, start); i--) {
    if (is.diagnosis(words[i])) return !isOfService(words, i) && !isDeniedDiagnosis(words, i, start);
    if (is.topic(words[i]) && !is.bystander(words[i])) return false;
  }
  return false;
}

function isOfService(words: readonly Word[], at: number): boolean {
  const before = skipBack(words, at - 1, is.filler, 3);
  return (
    is.early(words[at + 1]) || is.early(words[at - 1]) || (sameSentence(words, before, at) && is.service(words[before]))
  );
}

/** Returns whether `mi`, `mis`, `su` or `sus` stands directly before the condition: `mi diabetes`. */
function isTheirs({ words }: Text, { start }: Condition): boolean {
  return sameSentence(words, start - 1, start) && /^(?:mi|mis|su|sus)$/.test(words[start - 1]?.text ?? "");
}

/**
 * Returns whether a verb such as `sufro` stands before a word of {@link is.suffered}: `sufro de la tensión`. Returns
 * false if the verb is denied.
 */
function isSuffered({ words }: Text, { start }: Condition): boolean {
  const at = skipBack(words, start - 1, is.filler, CLOSE);
  if (!is.suffered(words[start]) || !is.takesPreposition(words[at]) || !sameSentence(words, at, start)) return false;
  return !isDenied(words, at);
}

/**
 * Returns whether a word before the condition states it, such as `tengo` in `tengo lupus`. Returns false if that word
 * is denied: `no tengo lupus`. The search goes backwards from the condition. It skips fillers, numbers and other
 * conditions, and stops at any other word.
 */
function isToldBefore({ words, named }: Text, { start }: Condition): boolean {
  for (let at = start - 1; at >= start - NEAR && sameSentence(words, at, start); at--) {
    if (isTold(words, at, start)) return !isDenied(words, at);
    const word = words[at];
    if (word === undefined || !(is.filler(word) || isNumber(word) || named.has(word))) return false;
  }
  return false;
}

function isTold(words: readonly Word[], at: number, start: number): boolean {
  const teller = words[at];
  const isJoined = is.preposition(words[at + 1]) && at + 1 < start;
  if (is.having(teller)) return (!isJoined || is.takesPreposition(teller)) && !isGeneral(words, at);
  if (is.giving(teller)) return !isJoined && is.pronoun(words[at - 1]);
  if (is.finding(teller)) return true;
  if (is.caused(teller) && isJoined) return true;
  if (is.entry(teller)) return at === start - 1;
  if (is.saying(teller) && is.paper(words[at - 1])) return true;
  return hasCondition(words, at, start) || isExplained(words, at, start);
}

/**
 * Returns whether the word at index `at` says that a person has the condition that begins at index `start`: `paciente`
 * in `paciente con lupus`, `estoy` in `estoy con lupus`, `tratamiento` in `en tratamiento de lupus`.
 */
function hasCondition(words: readonly Word[], at: number, start: number): boolean {
  const teller = words[at];
  const path = words.slice(at + 1, start);
  if (is.treatment(teller)) return is.ownTreatment(words[at - 1]);
  if (is.being(teller)) return path.some(({ text }) => text === "con");
  const person = skipBack(words, at, (word) => is.age(word) || isNumber(word), NEAR);
  if (!sameSentence(words, person, start) || !is.person(words[person])) return false;
  const topic = skipBack(words, person - 1, is.filler, 2);
  const isWith = is.patient(words[person]) || words.slice(person, start).some(({ text }) => text === "con");
  return isWith && !is.topic(words[topic]);
}

/**
 * Returns whether somebody reports the condition that begins at index `start`: `me dijo el doctor que es lupus`. The
 * caller goes backwards from the condition; `at` is the index of its current word. Requires two words:
 * - `es`, `era`, `fue`, `son` or `que`, at index `at` or between `at` and the condition
 * - a word of {@link is.telling}, such as `dijo`, at `at` or at most {@link NEAR} words before it, in the same sentence
 *
 * Returns false if a topic, such as `charla`, stands between these two words. Words of {@link is.bystander} do not
 * count as topics here.
 */
function isExplained(words: readonly Word[], at: number, start: number): boolean {
  const path = words.slice(at, start);
  if (!path.some(({ text }) => /^(?:es|era|fue|son|que)$/.test(text))) return false;
  for (let i = at; i >= at - NEAR && sameSentence(words, i, start); i--) {
    if (is.topic(words[i]) && !is.bystander(words[i])) return false;
    if (is.telling(words[i])) return true;
  }
  return false;
}

/**
 * Returns whether the words after the condition state it: `vih positivo`, `el lupus que padezco`,
 * `la hipertensión que me diagnosticaron`. Also returns true if an ICD-10 code stands beside the condition:
 * `hipertensión I10`. One number may stand between a code and the condition after it: `E11.9 diabetes` is read as
 * `e11`, `9`, `diabetes`. One filler may stand between the condition and a code after it.
 */
function isToldAfter({ words }: Text, { start, end }: Condition): boolean {
  if (isCodeBeside(words, start, end)) return true;
  const topic = skipBack(words, start - 1, is.filler, NEAR);
  if (sameSentence(words, topic, start) && is.topic(words[topic])) return false;
  if (sameSentence(words, end, start) && /^(?:positiv[oa]|reactiv[oa])$/.test(words[end]?.text ?? "")) return true;
  const next = skipAhead(words, end, is.backLink, NEAR);
  if (!sameSentence(words, next, start)) return false;
  if (is.diagnosis(words[next])) return next > end || /^(?:dx|diagnosticad[oa])$/.test(words[next]?.text ?? "");
  return isOwnVerb(words, next, end);
}

function isOwnVerb(words: readonly Word[], at: number, end: number): boolean {
  const isReported = is.telling(words[at]) && words[at + 1]?.text === "que" && is.having(words[at + 2]);
  const isFirstPerson = /^(?:tengo|tuve|padezco|sufro)$/.test(words[at]?.text ?? "");
  const link = words[at - 1]?.text === "yo" ? at - 2 : at - 1;
  return isReported || (at === end ? isFirstPerson : is.having(words[at]) && words[link]?.text === "que");
}

function isCodeBeside(words: readonly Word[], start: number, end: number): boolean {
  const before = isNumber(words[start - 1]) ? start - 2 : start - 1;
  return (
    (isCode(words, before, start) && !is.numbered(words[before - 1])) ||
    isCode(words, end, start) ||
    (isCode(words, end + 1, start) && is.filler(words[end]))
  );
}

function isCode(words: readonly Word[], at: number, near: number): boolean {
  return sameSentence(words, at, near) && code.test(words[at]?.text ?? "") && words[at]?.text !== "b12";
}

/**
 * Returns whether a word of the kind PERSON or PEOPLE means particular people: `soy diabético`, `mi papá hipertenso`,
 * `somos asmáticos`.
 */
function isSomebody({ words, named }: Text, { kind, start }: Condition): boolean {
  const isBetween = (word: Word | undefined) =>
    word !== undefined && (named.has(word) || (is.filler(word) && !is.self(word)));
  const at = skipBack(words, start - 1, isBetween, NEAR);
  if (!sameSentence(words, at, start) || isDenied(words, at) || isGeneral(words, at)) return false;
  if (kind === "PEOPLE") return is.selves(words[at]);
  return is.self(words[at]) || is.person(words[at]);
}

function isGeneral(words: readonly Word[], at: number): boolean {
  if (/^(?:tengo|padezco|sufro|tuve|soy|fui)$/.test(words[at]?.text ?? "")) return false;
  return is.anyone(words[at - 1]) || (words[at - 1]?.text === "que" && is.anyones(words[at - 2]));
}
