import type { FieldErrorCode } from "../../errors.js";

/** What a broken rule means to the caller. */
export interface RuleCode {
  readonly code: FieldErrorCode;
  /**
   * What to tell the caller, in our words; `{max_len}` stands for the limit of that name beside the rule in the proto. A
   * rule that the project made itself has none here: its message is in the proto too.
   */
  readonly message?: string;
  /**
   * For a rule that stands on a message and not on a field: the proto names of the fields it compares. It is reported on
   * the last of them, and only where none of them breaks a rule of its own, which would say the same twice.
   */
  readonly fields?: readonly string[];
}

/**
 * The one table from the ids of protovalidate's rules, and of those in cupo/options/v1/rules.proto and in the messages,
 * to field-level errors. The order matters: where one field breaks several rules of the same code, the first one here is
 * the one that tells most.
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

  "enum.defined_only": { code: "INVALID_VALUE", message: "the value must be one of those that the contract lists" },
  "enum.in": { code: "INVALID_VALUE", message: "the value must be one of those that the contract lists" },
  "enum.not_in": { code: "INVALID_VALUE", message: "the value must be one of those that the contract lists" },

  "repeated.min_items": { code: "TOO_FEW", message: "the list must have at least {min_items} item(s)" },
  "repeated.max_items": { code: "TOO_MANY", message: "the list must have at most {max_items} items" },
  "repeated.unique": { code: "DUPLICATE", message: "the list must not contain a value twice" },
  "repeated.unique_ignoring_case": { code: "DUPLICATE" },

  date_range: { code: "INVALID_RANGE", fields: ["date_from", "date_to"] },
  created_range: { code: "INVALID_RANGE", fields: ["created_from", "created_to"] },

  event_start: { code: "INVALID_VALUE", fields: ["cursor", "start"] },
  note_subject: { code: "INVALID_VALUE", fields: ["patient_id", "appointment_id"] },
  search_criterion: { code: "REQUIRED", fields: ["document_number_prefix", "phone", "name"] },
  merge_of_two: { code: "INVALID_VALUE", fields: ["survivor_patient_id", "duplicate_patient_id"] },
  time_range: { code: "INVALID_RANGE", fields: ["starts_at", "ends_at"] },
  block_target: { code: "INVALID_VALUE", fields: ["practitioner_id", "location_id", "program_id"] },
  choices_once: { code: "DUPLICATE", fields: ["choices"] },
  option_type: { code: "INVALID_VALUE", fields: ["appointment_type_id"] },
  option_subject: { code: "INVALID_VALUE", fields: ["patient_id", "appointment_id"] },
  validity_range: { code: "INVALID_RANGE", fields: ["valid_from", "valid_to"] },
  "weekdays.min_items": { code: "TOO_FEW", fields: ["weekdays"] },
} as const satisfies Record<string, RuleCode>;

const ruleIds = Object.keys(ruleCodes);

/** The entry of a rule. Throws for an id without one: someone used a rule in a proto and forgot this table. */
export function ruleCode(ruleId: string): RuleCode {
  if (!Object.hasOwn(ruleCodes, ruleId)) throw new Error(`the validation rule ${ruleId} has no field-level error code`);
  return ruleCodes[ruleId as keyof typeof ruleCodes];
}

/** The place of a rule in the table: of two broken rules, the one with the lower rank tells more. */
export function ruleRank(ruleId: string): number {
  return ruleIds.indexOf(ruleId);
}
