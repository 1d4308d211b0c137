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

/** The enum of holiday policies that a request uses. The access API and the clinic API have different enums. */
type Policies = typeof ProgramRule_HolidayPolicy | typeof ProgramRuleDetails_HolidayPolicy;

/** Returns the rule with the changes applied and its version incremented. Local times are normalized to HH:MM:SS. */
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

/** Returns the rules of a program. `changed` replaces the rule with the same id. */
export function withRule(rules: readonly ProgramRuleRecord[], changed: ProgramRuleRecord): ProgramRuleRecord[] {
  return rules.map((rule) => (rule.id === changed.id ? changed : rule));
}

/** The names of the rule attributes that a request contains. */
export type SentAttributes = ReadonlySet<string>;

/** The request fields that can make two rules overlap. The field that most likely did so comes first. */
const CAN_OVERLAP = [
  "startsAtLocal",
  "endsAtLocal",
  "weekdays",
  "validFrom",
  "validTo",
  "holidayDates",
  "holidayPolicy",
  "active",
] as const;

/**
 * Checks a complete rule, alone and against the other rules of its program (specification section 4.7, rule 1). A
 * transaction that writes the rule must lock the program first, so that no other rule changes.
 *
 * Throws 422 with every problem of the rule itself. If there is no such problem, but the rule overlaps another one,
 * throws 422 with the first overlap. The field is the first one in {@link CAN_OVERLAP} that `sent` also has, or else
 * startsAtLocal.
 */
export function requireValidRule(
  rule: ProgramRuleRecord,
  others: readonly ProgramRuleRecord[],
  sent: SentAttributes,
): void {
  const problems: FieldError[] = ruleProblems(rule);
  if (problems.length > 0) throw validationFailed(problems);
  const rival = others.find((other) => other.id !== rule.id && overlaps(rule, other));
  if (rival === undefined) return;
  const message = `the rule would apply at the same date and time as the active rule ${rival.id}: change one of them`;
  throw validationFailed([{ code: "RULE_OVERLAP", field: firstSent(CAN_OVERLAP, sent), message }]);
}

/** Returns the first of `fields` that was sent, or the first of `fields` if none was sent. */
export function firstSent(fields: readonly [string, ...string[]], sent: SentAttributes): string {
  return fields.find((field) => sent.has(field)) ?? fields[0];
}

/** Returns a local time as HH:MM:SS. Throws if the text is not a valid local time. */
export function shownTime(text: string): string {
  const second = parseLocalTime(text);
  if (second === undefined) throw new Error("the local time was not validated");
  return formatLocalTime(second);
}
