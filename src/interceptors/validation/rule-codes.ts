import type { FieldErrorCode } from "../../errors.js";

/** The field error that reports a broken rule to the caller. */
export interface RuleCode {
  readonly code: FieldErrorCode;
  /**
   * The message for the caller. A placeholder such as `{max_len}` is replaced by the limit of this name in the rules of
   * the field. Absent for rules of this project, because their messages are in the proto.
   */
  readonly message?: string;
  /**
   * For a rule on a message instead of a field: the proto names of the fields that the rule compares. The error is
   * reported on the last of these fields. The error is omitted if one of these fields breaks a rule of its own.
   */
  readonly fields?: readonly string[];
}

/**
 * Maps the ids of rules to field errors. The rules come from protovalidate, from cupo/options/v1/rules.proto and from
 * the options of messages. If a field breaks several rules with the same code, only the rule that comes first in this
 * table is reported. So a more specific rule comes before a general one.
 */
const ruleCodes = {
  required: { code: "REQUIRED", message: "the field is required" },

  "string.too_short": { code: "TOO_SHORT" },
  "string.too_long": { code: "TOO_LONG" },
  "string.min_len": { code: "TOO_SHORT", message: "the value must have at least {min_len} character(s)" },
  "string.max_len": { code: "TOO_LONG", message: "the value must have at most {max_len} characters" },
  "string.uuid_empty": { code: "INVALID_UUID", message: "the value must be a UUID" },
  "string.uuid": { code: "INVALID_UUID", message: "the value must be a UUID" },
  "repeated.uuids": { code: "INVALID_UUID" },
  "string.mailbox": { code: "INVALID_EMAIL" },
  "string.pattern": { code: "INVALID_FORMAT", message: "the value must have the format that the contract describes" },
  "string.line": { code: "INVALID_FORMAT" },
  "string.paragraph": { code: "INVALID_FORMAT" },
  "string.trimmed": { code: "INVALID_FORMAT" },
  "string.unmistakable": { code: "INVALID_FORMAT" },
  "string.document_type": { code: "INVALID_FORMAT" },
  "string.document_number": { code: "INVALID_FORMAT" },
  "string.phone": { code: "INVALID_FORMAT" },
  "string.letters_or_digits": { code: "TOO_SHORT" },
  "string.digits": { code: "TOO_SHORT" },
  "string.local_date": { code: "INVALID_DATE" },
  "string.local_time": { code: "INVALID_TIME" },

  "int32.gte": { code: "OUT_OF_RANGE", message: "the value must be {gte} or more" },
  "int32.gte_lte": { code: "OUT_OF_RANGE", message: "the value must be from {gte} to {lte}" },
  "int32.daily_capacity": { code: "INVALID_CAPACITY" },

  "enum.defined_only": {
    code: "INVALID_VALUE",
    message: "the value must be one that the contract lists for this field",
  },
  "enum.in": { code: "INVALID_VALUE", message: "the value must be one that the contract lists for this field" },
  "enum.not_in": { code: "INVALID_VALUE", message: "the value must be one that the contract lists for this field" },

  "repeated.min_items": { code: "TOO_FEW", message: "the list must have at least {min_items} item(s)" },
  "repeated.max_items": { code: "TOO_MANY", message: "the list must have at most {max_items} items" },
  "repeated.unique": { code: "DUPLICATE", message: "the value must not be in the list twice" },
  "repeated.unique_ignoring_case": { code: "DUPLICATE" },

  date_range: { code: "INVALID_RANGE", fields: ["date_from", "date_to"] },
  month_range: { code: "INVALID_RANGE", fields: ["month_from", "month_to"] },
  created_range: { code: "INVALID_RANGE", fields: ["created_from", "created_to"] },

  event_start: { code: "INVALID_VALUE", fields: ["cursor", "start"] },
  import_reference: { code: "INVALID_VALUE", fields: ["source_id", "resource_id"] },
  note_subject: { code: "INVALID_VALUE", fields: ["patient_id", "appointment_id"] },
  search_criterion: { code: "REQUIRED", fields: ["document_number_prefix", "phone", "name"] },
  merge_of_two: { code: "INVALID_VALUE", fields: ["survivor_patient_id", "duplicate_patient_id"] },
  swap_of_two: { code: "INVALID_VALUE", fields: ["practitioner_id", "other_practitioner_id"] },
  time_range: { code: "INVALID_RANGE", fields: ["starts_at", "ends_at"] },
  block_target: { code: "INVALID_VALUE", fields: ["practitioner_id", "location_id", "program_id"] },
  choices_once: { code: "DUPLICATE", fields: ["choices"] },
  visits_of_different_patients: { code: "DUPLICATE", fields: ["visits"] },
  option_type: { code: "INVALID_VALUE", fields: ["appointment_type_id"] },
  wait_correction: { code: "REQUIRED", fields: ["requested_on", "desired_on", "first_visit", "payer_id"] },
  visit_change: {
    code: "REQUIRED",
    fields: ["service_id", "appointment_type_id", "duration_minutes", "modality", "join_link"],
  },
  late_visit: { code: "INVALID_VALUE", fields: ["arrived_at", "no_show_at"] },
  late_attendance: { code: "REQUIRED", fields: ["attended_at", "arrived_at"] },
  late_no_show: { code: "INVALID_VALUE", fields: ["no_show_at", "comment", "no_show_reason_id"] },
  late_steps: { code: "INVALID_VALUE", fields: ["arrived_at", "attended_at", "no_show_at"] },
  option_subject: { code: "INVALID_VALUE", fields: ["patient_id", "appointment_id"] },
  validity_range: { code: "INVALID_RANGE", fields: ["valid_from", "valid_to"] },
  "weekdays.min_items": { code: "TOO_FEW", fields: ["weekdays"] },
} as const satisfies Record<string, RuleCode>;

const ruleIds = Object.keys(ruleCodes);

/** Returns the entry of a rule. Throws if the table has no entry for the rule. */
export function ruleCode(ruleId: string): RuleCode {
  if (!Object.hasOwn(ruleCodes, ruleId)) throw new Error(`the validation rule ${ruleId} has no field-level error code`);
  return ruleCodes[ruleId as keyof typeof ruleCodes];
}

/** Returns the position of a rule in `ruleCodes`. The errors of one field are reported in this order. */
export function ruleRank(ruleId: string): number {
  return ruleIds.indexOf(ruleId);
}
