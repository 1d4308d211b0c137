import { type FieldError, validationFailed } from "../../errors.js";
import type { ProgramRule_HolidayPolicy } from "../../gen/cupo/access/v1/program_rule_pb.js";
import type { UpdateProgramRuleRequestValid } from "../../gen/cupo/access/v1/scheduling_configuration_service_pb.js";
import type { ProgramRuleDetails_HolidayPolicy } from "../../gen/cupo/clinic/v1/program_rule_details_pb.js";
import type { PreviewRuleChangeRequestValid } from "../../gen/cupo/clinic/v1/program_service_pb.js";
import type { ProgramRuleRecord } from "../../postgres/tables/schedule/program-rules.js";
import { formatLocalTime, parseLocalTime } from "../../scheduling/local-time.js";
import { overlaps } from "../../scheduling/overlap.js";
import { ruleProblems } from "../../scheduling/rule-problems.js";
import { nameIn } from "../resources/enum-names.js";
import type { Changes } from "../resources/resources.js";

type RuleChanges = Changes<UpdateProgramRuleRequestValid> | Changes<PreviewRuleChangeRequestValid>;

/** The holiday policies of the interface that a change came by: the published one's, or the clinic's own. */
type Policies = typeof ProgramRule_HolidayPolicy | typeof ProgramRuleDetails_HolidayPolicy;

/** The rule with the changes merged into it, at its next version; local times in the form in which they are shown. */
export function mergeRule(
  rule: ProgramRuleRecord,
  { holidayPolicy, ...changes }: RuleChanges,
  policies: Policies,
): ProgramRuleRecord {
  const { startsAtLocal = rule.startsAtLocal, endsAtLocal = rule.endsAtLocal } = changes;
  return {
    ...rule,
    ...changes,
    recurrence: "WEEKLY",
    holidayPolicy: holidayPolicy === undefined ? rule.holidayPolicy : nameIn(policies, holidayPolicy),
    startsAtLocal: shownTime(startsAtLocal),
    endsAtLocal: shownTime(endsAtLocal),
    id: rule.id,
    programId: rule.programId,
    version: rule.version + 1,
  };
}

/** The rules of a program with one of them in its new form. */
export function withRule(rules: readonly ProgramRuleRecord[], changed: ProgramRuleRecord): ProgramRuleRecord[] {
  return rules.map((rule) => (rule.id === changed.id ? changed : rule));
}

/** The names of the attributes that a request for a rule sent. */
export type SentAttributes = ReadonlySet<string>;

/** Whatever can make two rules meet, the likeliest first. */
const CAN_OVERLAP = [
  "startsAtLocal",
  "endsAtLocal",
  "weekdays",
  "validFrom",
  "validTo",
  "holidayDates",
  "holidayPolicy",
  "active",
];

/**
 * Holds a whole rule to what rules must be, by itself and beside the other rules of its program (specification section
 * 4.7, rule 1): 422 with every problem. An overlap is a matter of the first field that was `sent` of those that can bring one
 * about. The caller has locked the program, so that no other rule changes meanwhile.
 */
export function requireSoundRule(
  rule: ProgramRuleRecord,
  others: readonly ProgramRuleRecord[],
  sent: SentAttributes,
): void {
  const problems: FieldError[] = ruleProblems(rule);
  if (problems.length > 0) throw validationFailed(problems);
  const rival = others.find((other) => other.id !== rule.id && overlaps(rule, other));
  if (rival === undefined) return;
  const message = `the rule would share a date and a time of day with the active rule ${rival.id}`;
  throw validationFailed([{ code: "RULE_OVERLAP", field: firstSent(CAN_OVERLAP, sent), message }]);
}

/** Which of some fields an error is about: the first that was sent, or the first where none was. */
export function firstSent(fields: readonly string[], sent: SentAttributes): string {
  return fields.find((field) => sent.has(field)) ?? fields[0] ?? "";
}

/** HH:MM:SS of a local time that validation has let pass. */
export function shownTime(text: string): string {
  const second = parseLocalTime(text);
  if (second === undefined) throw new Error("the local time was not validated");
  return formatLocalTime(second);
}
