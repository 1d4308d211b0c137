import { toPlainText } from "../plain-text.js";
import { abbreviations, unclearAbbreviations } from "./conditions/abbreviations.js";
import { bloodAndImmunity } from "./conditions/blood-and-immunity.js";
import { bonesAndJoints } from "./conditions/bones-and-joints.js";
import { digestion } from "./conditions/digestion.js";
import { englishConditions, englishOnlyAsDiagnosis, englishPeople } from "./conditions/english-conditions.js";
import { heartAndVessels } from "./conditions/heart-and-vessels.js";
import { hormonesAndMetabolism } from "./conditions/hormones-and-metabolism.js";
import { infections } from "./conditions/infections.js";
import { kidneysAndUrine } from "./conditions/kidneys-and-urine.js";
import { lungsAndAirways } from "./conditions/lungs-and-airways.js";
import { mind } from "./conditions/mind.js";
import { nerves } from "./conditions/nerves.js";
import { onlyAsDiagnosis } from "./conditions/only-as-diagnosis.js";
import { people } from "./conditions/people.js";
import { skinEyesAndEars } from "./conditions/skin-eyes-and-ears.js";
import { tumours } from "./conditions/tumours.js";
import { womenAndBirth } from "./conditions/women-and-birth.js";
import { keyOf } from "./read-words.js";

/**
 * A condition is a disease, an injury, a symptom or a similar problem of health. The kind of its name decides when the
 * name counts as a diagnosis:
 * - CONDITION (`lupus`) counts in any statement that a person has the condition.
 * - UNCLEAR (`gripa`, `dm`) counts after a word for a diagnosis (`dx gripa`), with at most three words between. Some of
 *   these names also count after a verb such as `sufro de`. In other statements, they do not count: `tengo gripa`.
 * - PERSON (`diabética`) is a word for one person with a condition. It counts after a word for a diagnosis, and if it
 *   means a particular person: `soy diabética`.
 * - PEOPLE (`diabéticos`) is a word for several persons with a condition. It counts like PERSON: `somos diabéticos`.
 */
export type ConditionKind = "CONDITION" | "UNCLEAR" | "PERSON" | "PEOPLE";

/**
 * The name of a condition (`diabetes`), or a word for people who have it (`diabético`). It is stored as the
 * {@link keyOf} keys of its words.
 */
export interface ConditionName {
  readonly kind: ConditionKind;
  readonly keys: readonly string[];
}

const systems = [
  heartAndVessels,
  hormonesAndMetabolism,
  lungsAndAirways,
  infections,
  tumours,
  mind,
  nerves,
  digestion,
  kidneysAndUrine,
  bonesAndJoints,
  skinEyesAndEars,
  bloodAndImmunity,
  womenAndBirth,
  englishConditions,
];

/**
 * Returns the names of all known conditions, and all words for people who have one, in Spanish and English. Each call
 * builds the list again.
 */
export function readConditionNames(): readonly ConditionName[] {
  return [
    ...named("CONDITION", listed(systems.join(","), ",")),
    ...named("CONDITION", listed(abbreviations, /\s+/)),
    ...named("UNCLEAR", listed(`${onlyAsDiagnosis},${englishOnlyAsDiagnosis}`, ",")),
    ...named("UNCLEAR", listed(unclearAbbreviations, /\s+/)),
    ...listed(people, /\s+/).flatMap(formsOfPerson),
    ...named("PERSON", listed(englishPeople, /\s+/)),
  ];
}

function listed(names: string, separator: string | RegExp): string[] {
  return toPlainText(names)
    .toLowerCase()
    .split(separator)
    .map((name) => name.trim());
}

function named(kind: ConditionKind, names: readonly string[]): ConditionName[] {
  return names.map((name) => ({ kind, keys: name.split(/\s+/).map(keyOf) }));
}

function formsOfPerson(singular: string): ConditionName[] {
  const feminine = singular.replace(/o$/, "a");
  const plural = (word: string) => (/[aeo]$/.test(word) ? `${word}s` : `${word}es`);
  return [...named("PERSON", [singular, feminine]), ...named("PEOPLE", [plural(singular), plural(feminine)])];
}
