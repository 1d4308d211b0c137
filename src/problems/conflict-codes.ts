import type { FieldErrorCode } from "../errors.js";
import type { CodeEntry } from "./code-entry.js";
import { lateEntries, moves, searches, seriesBookings } from "./operation-groups.js";

const single = [...moves, "BookAppointment", "BookAppointmentAt", "HoldAppointmentOption"];
const several = [...seriesBookings, "MoveSeries"];
const takers = [...single, ...several];
const arrivals = ["ConfirmAppointment", "CheckInAppointment"];
const visitEnds = ["MarkAppointmentAttended", "MarkAppointmentNoShow"];

/** Codes for a valid request that fails because of the state of a resource, other calls or the load of the service. */
export const conflictCodes = {
  STALE_VERSION: {
    meaning: "expectedVersion is no longer the version of the resource.",
    cause: "Another update came first. message names the current version.",
    remedy:
      "Read the resource again, check that your change still applies, and send it with the current version. Each response with the resource has it, also the clinic API's Get operation.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    meaning: "The Idempotency-Key belongs to another request.",
    cause: "The client used it for a different request of the same operation, or changed a request without a new key.",
    remedy: "Send a new key with a new request, and the same key only with the same request.",
  },
  IDEMPOTENCY_IN_PROGRESS: {
    meaning: "A request with the same Idempotency-Key is still in progress.",
    cause: "The client sent it again before the first answer.",
    remedy: "After the seconds in Retry-After, send it again with the same key.",
  },
  RESULT_ERASED: {
    meaning: "The request took effect before, but its result was erased with the patient's data.",
    cause: "The patient was erased after the first answer. The request is not executed again.",
    remedy: "Do not send it again. Read the resource, if you still need it.",
    answeredBy: { CONCURRENT_MODIFICATION: ["ImportResources"] },
  },
  STATE_NOT_ALLOWED: {
    meaning: "The state of the resource does not allow the operation.",
    cause:
      "For example, the appointment is cancelled or has begun, the entry or case is closed, the hold has ended, the patient was merged.",
    remedy: "Use an operation that the state in message allows.",
    answeredBy: {
      CONCURRENT_MODIFICATION: [
        ...single,
        ...several,
        "CancelSeries",
        "OverbookAppointment",
        ...searches,
        ...arrivals,
        ...visitEnds,
        "CancelAppointment",
        "CorrectAppointmentStatus",
        "CorrectAppointmentWait",
        "ChangeAppointment",
        ...lateEntries,
        "SwapPractitioners",
        "SetPatientStatus",
        "CorrectPatientDocument",
        "MergePatients",
        "ErasePatient",
        "UpdateNote",
        "DeleteNote",
        "CloseWaitlistEntry",
        "ChangeWaitlistEntry",
        "TakeCase",
        "CloseCase",
        "UpdateScheduleBlock",
        "CancelScheduleBlock",
        "TestWebhook",
        "ReleaseHold",
        "SuspendTenant",
        "ResumeTenant",
        "EraseTenant",
      ],
    },
  },
  TENANT_SUSPENDED: {
    meaning: "The tenant is suspended, so nothing of it can be changed.",
    cause: "An operator suspended the tenant, or has it erased.",
    remedy: "Read as before. Send changes again, with the same keys, when the operator has resumed the tenant.",
    answeredBy: { CONCURRENT_MODIFICATION: ["ListEvents", "WatchEvents"] },
  },
  TOO_EARLY: {
    meaning: "It is too early for this step of the appointment.",
    cause: "The appointment begins later.",
    remedy: "Send the request again from the time that message names.",
    answeredBy: { CONCURRENT_MODIFICATION: ["CheckInAppointment", ...visitEnds, ...lateEntries] },
  },
  TOO_LATE: {
    meaning: "It is too late to cancel or reschedule the appointment, or to enter the visit.",
    cause:
      "The tenant sets the latest time: in hours before the start, or for late entries in days after the visit (lateEntryDays).",
    remedy:
      "Let a supervisor cancel or reschedule, with the scope scheduling:overbook. Ask for another setting to enter it.",
    answeredBy: {
      CONCURRENT_MODIFICATION: [
        ...moves,
        "CancelAppointment",
        "CancelSeries",
        "MoveSeries",
        "HoldAppointmentOption",
        ...lateEntries,
      ],
    },
  },
  SAME_SLOT: {
    meaning: "The appointment already has the slot of the option.",
    cause: "It was moved there before, or the option was for its own time.",
    remedy: "Do nothing, or choose another option.",
    answeredBy: { CONCURRENT_MODIFICATION: [...moves, "HoldAppointmentOption", "MoveSeries"] },
  },
  NO_SLOT: {
    meaning: "The practitioner has no adjacent slots at that time that are long enough.",
    cause: "A holiday, a block, another start than that of a slot, or a time after the horizon of the program.",
    remedy: "Choose another time, or book the other appointments without this one.",
    answeredBy: { CONCURRENT_MODIFICATION: several },
  },
  PATIENT_NOT_ACTIVE: {
    meaning: "The patient is not ACTIVE.",
    cause: "The patient is INACTIVE or DECEASED, or was merged or erased.",
    remedy: "Activate the patient first, if that is correct.",
    answeredBy: {
      CONCURRENT_MODIFICATION: [
        ...takers,
        "OverbookAppointment",
        ...searches,
        ...arrivals,
        ...lateEntries,
        "CorrectAppointmentStatus",
        "MergePatients",
      ],
    },
  },
  SLOT_OCCUPIED: {
    meaning: "The slot, or the practitioner at that time, is taken.",
    cause: "Another appointment was booked first, or another caller holds the time.",
    remedy: "Search again, and choose another option.",
    answeredBy: {
      CONCURRENT_MODIFICATION: [
        ...takers,
        "CorrectAppointmentStatus",
        "ChangeAppointment",
        "EnterLateVisit",
        "SwapPractitioners",
      ],
    },
  },
  CAPACITY_EXHAUSTED: {
    meaning: "The rule of the program has no capacity left on the day.",
    cause: "As many appointments as dailyCapacity are booked or held.",
    remedy: "Choose an option on another day.",
    answeredBy: { CONCURRENT_MODIFICATION: [...takers, "CorrectAppointmentStatus"] },
  },
  PATIENT_OVERLAP: {
    meaning: "The patient has another appointment or a hold at the same time.",
    cause: "The times of both would overlap.",
    remedy: "Choose another time, or cancel the other appointment or release the hold first.",
    answeredBy: {
      CONCURRENT_MODIFICATION: [
        ...takers,
        "OverbookAppointment",
        "CorrectAppointmentStatus",
        "ChangeAppointment",
        "EnterLateVisit",
        "MergePatients",
      ],
    },
  },
  PATIENT_LIMIT: {
    meaning: "The patient has as many appointments as the tenant allows.",
    cause: "The tenant limits appointments ahead, in all or for a service, or those for a service on a day.",
    remedy: "Cancel another appointment, or let a supervisor book, with the scope scheduling:overbook.",
    answeredBy: { CONCURRENT_MODIFICATION: takers },
  },
  SUPERVISOR_REQUIRED: {
    meaning: "Only a supervisor can book for the patient.",
    cause: "The patient has missed as many appointments within a year as the tenant allows.",
    remedy: "Let a supervisor book, with the scope scheduling:overbook.",
    answeredBy: {
      CONCURRENT_MODIFICATION: ["BookAppointment", "BookAppointmentAt", "HoldAppointmentOption", ...seriesBookings],
    },
  },
  HOLD_LIMIT: {
    meaning: "The patient or the client has too many live holds.",
    cause: "A patient can have 3, a client as many as HOLDS_PER_PRINCIPAL.",
    remedy: "Book or release a hold, or wait until one expires.",
    answeredBy: { CONCURRENT_MODIFICATION: ["HoldAppointmentOption"] },
  },
  BUSY: {
    meaning: "Other requests use the capacity that this request needs. Nothing was changed.",
    cause:
      "Not free in time: a permit for a call or a heavy call of the tenant, a database connection, or a locked row.",
    remedy: "After the seconds in Retry-After, send it again with the same Idempotency-Key.",
  },
  TIMEOUT: {
    meaning: "A statement of the request took longer than its limit of 10 s. Nothing was changed.",
    cause: "The database is slow, or the request needs much data.",
    remedy:
      "After the seconds in Retry-After, send it again with the same Idempotency-Key. If it times out again, request less at once or contact the operator.",
  },
} as const satisfies Readonly<Partial<Record<FieldErrorCode, CodeEntry>>>;
