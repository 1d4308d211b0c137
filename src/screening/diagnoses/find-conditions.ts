import { createMeantWord } from "../spelling.js";
import { type ConditionKind, type ConditionName, conditionNames } from "./condition-names.js";
import { hasMedicalEnding } from "./medical-endings.js";
import { keyOf, type Word } from "./read-words.js";

/** The name of a condition in a text: from the word `start` up to the word before `end`. */
export interface Condition {
  readonly kind: ConditionKind;
  readonly start: number;
  readonly end: number;
}

/** Everyday words that are one letter away from the name of a condition. */
const lookalikes: ReadonlySet<string> = new Set(
  `abordo absorto acceso accesos adicion adiciones admision animica animico artista artistas artistica artistico ascenso
  asesor asesora asiatica asiatico cancel cansar cansas carnes carriel casera casero citrica cochera cojera colchera
  colega colegas coleta cuchara decencia embarrado esquema esquemas factura figura figuras finura influencia influencias
  inyeccion jaquear leccion legion lesivo locion lupina mamaria mayordoma miranda pension porcion precio prision quehacer
  reflejo refugio rentado restado retrato sagrado segueta semana senora severa temblar torrente tramar zaguera`
    .split(/\s+/)
    .map(keyOf),
);

const hasDigit = /[0-9]/;
const namesByFirst = new Map<string, ConditionName[]>();
for (const name of conditionNames.toSorted((a, b) => b.keys.length - a.keys.length)) {
  const [first = ""] = name.keys;
  const others = namesByFirst.get(first);
  if (others === undefined) namesByFirst.set(first, [name]);
  else others.push(name);
}
const known: ReadonlySet<string> = new Set(conditionNames.flatMap(({ keys }) => keys));
const meantWord = createMeantWord(
  conditionNames
    .filter(({ kind }) => kind !== "UNCLEAR")
    .flatMap(({ keys }) => keys.filter((key) => !hasDigit.test(key))),
);

/**
 * The names of conditions in a text, in order, of two at the same place the longer one: those of the lexicon in singular
 * or plural and with small errors of spelling, and words that are built like one.
 */
export function findConditions(words: readonly Word[]): Condition[] {
  const keys = words.map(({ key }) => knownKey(key));
  const found: Condition[] = [];
  for (let start = 0; start < words.length; ) {
    const condition = conditionAt(words, keys, start);
    if (condition !== undefined) found.push(condition);
    start = condition?.end ?? start + 1;
  }
  return found;
}

function conditionAt(words: readonly Word[], keys: readonly string[], start: number): Condition | undefined {
  const name = namesByFirst.get(keys[start] ?? "")?.find((each) => isAt(each, words, keys, start));
  if (name !== undefined) return { kind: name.kind, start, end: start + name.keys.length };
  return hasMedicalEnding(words[start]?.text ?? "") ? { kind: "CONDITION", start, end: start + 1 } : undefined;
}

function isAt(name: ConditionName, words: readonly Word[], keys: readonly string[], start: number): boolean {
  const last = words[start + name.keys.length - 1];
  return last?.sentence === words[start]?.sentence && name.keys.every((key, index) => keys[start + index] === key);
}

/** The key of the lexicon that is meant, or the key itself. */
function knownKey(key: string): string {
  if (known.has(key) || lookalikes.has(key)) return key;
  const singular = key.length < 5 ? [] : [key.replace(/s$/, ""), key.replace(/es$/, "")];
  return singular.find((each) => each !== key && known.has(each)) ?? meantWord(key) ?? key;
}
