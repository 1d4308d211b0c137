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
 * When a name counts as a diagnosis. CONDITION: in each statement that a person has the condition. UNCLEAR (`gripa`,
 * `dm`): only after a word for a diagnosis, with at most three words between. Some UNCLEAR names also count after
 * `sufro de`. PERSON (`diabética`) and PEOPLE (`diabéticos`) name one or several persons with a condition. They count
 * if they mean particular people, or after a word for a diagnosis.
 */
export type ConditionKind = "CONDITION" | "UNCLEAR" | "PERSON" | "PEOPLE";

/** The name of a condition or of people with a condition: the {@link keyOf} keys of its words. */
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

/** Returns the names of all conditions and of people with a condition. Each call builds the list again. */
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
