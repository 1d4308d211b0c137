import { createMeantWord } from "../spelling.js";
import { type ConditionKind, type ConditionName, readConditionNames } from "./condition-names.js";
import { hasMedicalEnding } from "./medical-endings.js";
import { keyOf, type Word } from "./read-words.js";

/**
 * The name of a condition, or a word for people who have it, in a text: the words from index `start` (inclusive) to
 * index `end` (exclusive).
 */
export interface Condition {
  readonly kind: ConditionKind;
  readonly start: number;
  readonly end: number;
}

/**
 * Everyday words that differ by one letter from a word in the name of a condition, as `abordo` from `aborto`. They are
 * not taken for spelling errors.
 */
const lookalikes: ReadonlySet<string> = new Set(
  `abordo absorto acceso accesos adicion adiciones admision animica animico artista artistas artistica artistico ascenso
  asesor asesora asiatica asiatico cancel cansar cansas carnes carriel casera casero citrica cochera cojera colchera
  colega colegas coleta cuchara decencia embarrado esquema esquemas factura figura figuras finura influencia influencias
  inyeccion jaquear leccion legion lesivo locion lupina mamaria mayordoma miranda pension porcion precio prision quehacer
  reflejo refugio rentado restado retrato sagrado segueta semana senora severa temblar torrente tramar zaguera`
    .split(/\s+/)
    .map(keyOf),
);

/** The known names of conditions ({@link readConditionNames}), prepared for the search in {@link findConditions}. */
interface Lexicon {
  /** The names by the key of their first word. Names with more words come first. */
  readonly namesByFirst: ReadonlyMap<string, readonly ConditionName[]>;
  /** The keys of all words in the names. */
  readonly known: ReadonlySet<string>;
  /** Returns the key that a misspelled key stands for. Corrects no UNCLEAR names. */
  readonly meantWord: ReturnType<typeof createMeantWord>;
}

const hasDigit = /[0-9]/;
/** The fewest and most single letters that {@link spelledAt} reads as a name. */
const [LEAST_LETTERS, MOST_LETTERS] = [3, 20];
/** The words of one letter in Spanish. They can follow a name in single letters. */
const LETTER_WORDS: ReadonlySet<string> = new Set("aeouy");
const letterOf: Readonly<Record<string, string>> = { "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t" };
let lexicon: Lexicon | undefined;

/**
 * Returns the conditions named in a text, in order. If several names start at the same word, the one with the most
 * words counts. A name is found in singular and plural, with small spelling errors, in single letters (`v i h`) and
 * with digits for letters (`s1da`). A word with a medical ending, such as `tendinitis`, also counts as a CONDITION.
 */
export function findConditions(words: readonly Word[]): Condition[] {
  const read = (lexicon ??= makeLexicon());
  const keys = words.map(({ key }) => knownKey(key, read));
  const found: Condition[] = [];
  for (let start = 0; start < words.length; ) {
    const condition = conditionAt(words, keys, start, read);
    if (condition !== undefined) found.push(condition);
    start = condition?.end ?? start + 1;
  }
  return found;
}

/**
 * Creates the lexicon, which takes some tens of milliseconds. {@link findConditions} calls this function on first use,
 * so that the process starts without this delay.
 */
function makeLexicon(): Lexicon {
  const names = readConditionNames();
  const clear = names.filter(({ kind }) => kind !== "UNCLEAR").flatMap(({ keys }) => keys);
  return {
    namesByFirst: byFirstKey(names.toSorted(longestFirst)),
    known: new Set(names.flatMap(({ keys }) => keys)),
    meantWord: createMeantWord(clear.filter((key) => !hasDigit.test(key))),
  };
}

function byFirstKey(names: readonly ConditionName[]): ReadonlyMap<string, readonly ConditionName[]> {
  const groups = new Map<string, ConditionName[]>();
  for (const name of names) {
    const [first = ""] = name.keys;
    const others = groups.get(first);
    if (others === undefined) groups.set(first, [name]);
    else others.push(name);
  }
  return groups;
}

function longestFirst(a: ConditionName, b: ConditionName): number {
  return b.keys.length - a.keys.length;
}

function conditionAt(
  words: readonly Word[],
  keys: readonly string[],
  start: number,
  { namesByFirst }: Lexicon,
): Condition | undefined {
  const name = namesByFirst.get(keys[start] ?? "")?.find((each) => isAt(each, words, keys, start));
  if (name !== undefined) return { kind: name.kind, start, end: start + name.keys.length };
  const spelled = spelledAt(words, start, namesByFirst);
  if (spelled !== undefined) return spelled;
  return hasMedicalEnding(words[start]?.text ?? "") ? { kind: "CONDITION", start, end: start + 1 } : undefined;
}

/** Returns the CONDITION with the longest name that single letters from `start` on spell: `v i h`. */
function spelledAt(
  words: readonly Word[],
  start: number,
  namesByFirst: Lexicon["namesByFirst"],
): Condition | undefined {
  let found: Condition | undefined;
  let letters = "";
  for (let end = start + 1; end <= start + MOST_LETTERS && letterAt(words, start, end - 1) !== undefined; end++) {
    letters += letterAt(words, start, end - 1);
    const names = letters.length < LEAST_LETTERS ? [] : (namesByFirst.get(keyOf(letters)) ?? []);
    const isName = names.some(({ kind, keys }) => kind === "CONDITION" && keys.length === 1);
    const next = letterAt(words, start, end);
    if (isName && (next === undefined || LETTER_WORDS.has(next))) found = { kind: "CONDITION", start, end };
  }
  return found;
}

/** Returns the word at `at` if it is a single letter in the sentence of the word at `start`. */
function letterAt(words: readonly Word[], start: number, at: number): string | undefined {
  const word = words[at];
  return word?.sentence === words[start]?.sentence && /^[a-z]$/.test(word?.text ?? "") ? word?.text : undefined;
}

function isAt(name: ConditionName, words: readonly Word[], keys: readonly string[], start: number): boolean {
  const last = words[start + name.keys.length - 1];
  return last?.sentence === words[start]?.sentence && name.keys.every((key, index) => keys[start + index] === key);
}

/**
 * Corrects the key of a plural, disguised or misspelled word, as in `leucemias`, `l3ucemia` and `leusenia`: returns the
 * key of `leucemia`. Returns `key` unchanged if the lexicon contains it, if it is one of the {@link lookalikes}, or if
 * no key in the lexicon is similar.
 */
function knownKey(key: string, { known, meantWord }: Lexicon): string {
  if (known.has(key) || lookalikes.has(key)) return key;
  if (hasDigit.test(key)) return disguised(key, known) ?? key;
  const singular = key.length < 5 ? [] : [key.replace(/s$/, ""), key.replace(/es$/, "")];
  return singular.find((each) => each !== key && known.has(each)) ?? meantWord(key) ?? key;
}

/** Returns the key of the name that a word with digits for letters means: `s1da`. The name has at least four letters. */
function disguised(text: string, known: ReadonlySet<string>): string | undefined {
  const meant = keyOf(text.replace(/[013457]/g, (digit) => letterOf[digit] ?? digit));
  return text.length >= 4 && /[a-z]{2}/.test(meant) && known.has(meant) ? meant : undefined;
}
