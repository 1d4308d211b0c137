import type { FieldErrorCode } from "../errors.js";
import type { CodeEntry } from "./code-entry.js";
import {
  blockChanges,
  bookings,
  documentChanges,
  fittingValues,
  lateEntries,
  manyReferences,
  moves,
  reasonSteps,
  referring,
  ruleChanges,
  searches,
  windowChanges,
} from "./operation-groups.js";

/**
 * Codes for requests that are invalid by themselves, or that refer to a resource that does not exist or cannot be used.
 * A few codes report duplicates, changed rows of an import, expired cursors, or errors that a response omits.
 */
export const requestCodes = {
  REQUIRED: {
    meaning: "A field or a header that the operation needs is missing or empty.",
    cause: "It was left out or is null. A reason of the tenant can require a comment.",
    remedy: "Send a value.",
    answeredBy: { VALIDATION_FAILED: reasonSteps },
  },
  UNKNOWN_FIELD: {
    meaning: "The operation does not have this member or query parameter.",
    cause: "A spelling error, another case, or another version of the contract.",
    remedy: "Remove it or correct its name. Names are case-sensitive, such as documentType.",
  },
  INVALID_TYPE: {
    meaning: "The value has another JSON type than the field.",
    cause: "A number sent as text, text as a number, or one value for a list or an object.",
    remedy: "Send the type that the contract has.",
  },
  INVALID_VALUE: {
    meaning: "The value is not allowed here.",
    cause:
      "It is not in the enumeration, does not fit the rest of the request, or names an inactive resource. Also: a page token or cursor of another list, a header sent twice.",
    remedy: "Read message, and send another value.",
    answeredBy: {
      VALIDATION_FAILED: [...fittingValues, ...bookings, ...searches, ...reasonSteps],
    },
  },
  INVALID_FORMAT: {
    meaning: "The text contains characters that the field does not allow, or has them in the wrong places.",
    cause:
      "Control or invisible characters, spaces at an end, line breaks in one line, or a path that is not percent-encoded.",
    remedy: "Correct the text as message says.",
  },
  INVALID_UUID: {
    meaning: "The value is not a UUID.",
    cause: "The id is cut, has other characters, or is a code.",
    remedy: "Send the id as the service returned it, such as 0b8f6a52-9f0e-4f7e-8f5c-3f1f0f4b7c21.",
  },
  INVALID_EMAIL: {
    meaning: "The value is not an email address.",
    cause: "It has no @, no part before or after it, or has spaces or a name.",
    remedy: "Send one plain address.",
  },
  INVALID_DATE: {
    meaning: "The value is not a date of the calendar.",
    cause: "Another order of day and month, a date that does not exist, or a date with a time.",
    remedy: "Send YYYY-MM-DD, such as 2026-01-31.",
    answeredBy: { VALIDATION_FAILED: ruleChanges },
  },
  INVALID_DATE_TIME: {
    meaning: "The value is not a date and time with an offset.",
    cause: "The offset is missing, or the date or the time does not exist.",
    remedy: "Send an RFC 3339 date-time such as 2026-01-31T08:00:00-05:00.",
  },
  INVALID_TIME: {
    meaning: "The value is not a time of day.",
    cause: "A time of 24:00 or later, an offset, or AM and PM.",
    remedy: "Send a local time such as 08:00 or 08:00:00.",
    answeredBy: { VALIDATION_FAILED: ruleChanges },
  },
  TOO_SHORT: {
    meaning: "The text has fewer characters, letters or digits than the field needs.",
    cause: "It is empty or was cut.",
    remedy: "Send at least as many as message says.",
  },
  TOO_LONG: {
    meaning: "The text or the header has more characters than the field allows.",
    cause: "Several values, or text of another field.",
    remedy: "Send at most as many as message says. A character is a Unicode code point.",
  },
  TOO_FEW: {
    meaning: "The list has fewer items than the field needs.",
    cause: "It is empty.",
    remedy: "Send at least as many as message says.",
  },
  TOO_MANY: {
    meaning: "There are more items, rows, slots, rules or blocks than the service allows.",
    cause: "A list is too long, or the change would exceed a limit of a program, a tenant or an answer.",
    remedy: "Stay within the limit that message names, or request less.",
    answeredBy: {
      VALIDATION_FAILED: [
        ...ruleChanges,
        "ReplaceProgramPractitioners",
        "PreviewPractitionerChange",
        "MaterializeSchedule",
        "CreateScheduleBlock",
        "CreateWebhook",
        "GetOccupancy",
        ...windowChanges,
      ],
    },
  },
  OUT_OF_RANGE: {
    meaning: "A number, a date or a time is outside the limits.",
    cause:
      "A time too far in the past or future, or a number that is not allowed. As a conflict on cursor: the feed no longer has all events after it.",
    remedy:
      "Send a value within the limits that message names. After a conflict on cursor, call ListEvents without a cursor and with start NOW, then read all resources again.",
    answeredBy: {
      VALIDATION_FAILED: [
        "RegisterPatient",
        "SwapPractitioners",
        "CreateWaitlistEntry",
        "ChangeWaitlistEntry",
        "CorrectAppointmentWait",
        "MoveSeries",
        ...bookings,
        ...lateEntries,
        ...blockChanges,
        ...ruleChanges,
      ],
      CONCURRENT_MODIFICATION: ["ListEvents", "WatchEvents", "ReplayWebhook"],
    },
  },
  DUPLICATE: {
    meaning: "The value must be unique, but already exists.",
    cause:
      "A list has it twice (422), or a query a parameter (400). Or another resource of the tenant has it (409): an active patient the document, a resource the code, a holiday the date, a tenant the id.",
    remedy: "Remove the second item. After a conflict, use the resource that exists, or another value.",
    answeredBy: {
      CONCURRENT_MODIFICATION: [...documentChanges, "CreateHoliday", "CreateTenant"],
    },
  },
  INVALID_RANGE: {
    meaning: "Two fields are the ends of an impossible or too long range.",
    cause: "The end is before the start, or further from it than the limit.",
    remedy: "Correct one of the two. In an update, a field that is not sent keeps its value.",
    answeredBy: {
      VALIDATION_FAILED: [
        ...ruleChanges,
        ...blockChanges,
        "UpdateContract",
        "OverbookAppointment",
        "ChangeAppointment",
        ...lateEntries,
      ],
    },
  },
  INVALID_CAPACITY: {
    meaning: "A rule allows no appointments, or too many.",
    cause: "dailyCapacity is not from 1 to 10000, or no slot fits between startsAtLocal and endsAtLocal.",
    remedy: "Change the capacity, the length of the slots or the hours.",
    answeredBy: { VALIDATION_FAILED: ruleChanges },
  },
  RULE_OVERLAP: {
    meaning: "Two active rules of a program would apply at the same date and time.",
    cause: "Weekdays, dates and hours overlap those of the rule that message names.",
    remedy: "Change one of the two rules, or make one inactive.",
    answeredBy: { VALIDATION_FAILED: ruleChanges },
  },
  NOT_FOUND: {
    meaning: "The field's resource does not exist, or the caller cannot see it.",
    cause: "The id belongs to another tenant, organization or company, to another kind of resource, or to none.",
    remedy: "Check the id, and the tenant, organization and company of the token.",
    answeredBy: {
      RESOURCE_NOT_FOUND: referring,
      VALIDATION_FAILED: ["CreateWaitlistEntry", "CreateCase"],
    },
  },
  INVALID_OPTION: {
    meaning: "The option token was not made for this request.",
    cause: "It was changed, or made for another tenant, patient, appointment, service or a shorter appointment.",
    remedy: "Search for this patient or appointment, and send one of those tokens unchanged.",
    answeredBy: { VALIDATION_FAILED: [...moves, "BookAppointment", "HoldAppointmentOption"] },
  },
  CONTAINS_DIAGNOSIS: {
    meaning: "The text names a disease or a diagnosis, which must not be stored here.",
    cause: "The name or the ICD-10 code of a disease, in words about a person.",
    remedy: "Remove it. Clinical information belongs in the health record.",
  },
  CONTAINS_CREDENTIAL: {
    meaning: "The text contains a password, a key or another credential.",
    cause: "A word for a secret with a value, or text in the form of a key or a token.",
    remedy: "Remove the credential, and change it where it is used.",
  },
  CONTAINS_FINANCIAL_DATA: {
    meaning: "The text contains a card or account number, or other financial data.",
    cause: "Digits in the form of such a number, or next to a word for one.",
    remedy: "Remove the number.",
  },
  SOURCE_CHANGED: {
    meaning: "A row was imported before, and is different now. ImportResources reports it in the outcome of the row.",
    cause: "Somebody changed it in the other system.",
    remedy: "Change the resource here, with the operation of its kind: an import never updates.",
    answeredBy: { VALIDATION_FAILED: ["ImportResources"] },
  },
  MORE_ERRORS: {
    meaning: "The request has more errors than `errors` lists.",
    cause: "An answer lists at most 100 items, and over gRPC 20.",
    remedy: "Correct the listed errors, and send it again.",
    answeredBy: { RESOURCE_NOT_FOUND: manyReferences },
  },
} as const satisfies Readonly<Partial<Record<FieldErrorCode, CodeEntry>>>;
