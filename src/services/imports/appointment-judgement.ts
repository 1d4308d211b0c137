import type { FieldError } from "../../errors.js";
import { inactive, missing } from "../resources/preconditions.js";
import { type AppointmentDraft, type AppointmentReferences, pairOf } from "./appointment-references.js";
import { horizonErrors, type ImportClock } from "./appointment-times.js";
import { absentReference, inactiveReference, targetOf } from "./row-references.js";

type Found = { readonly active: boolean } | undefined;

/** An appointment to import. All its references exist. */
export interface JudgedAppointment {
  readonly draft: AppointmentDraft;
  readonly patientId: string;
  readonly practitionerId: string;
  readonly serviceId: string;
  readonly locationId: string;
}

/**
 * Returns the draft with its ids, or the error items of the row. Every reference must exist. A reason that requires a
 * comment must have one. The appointment must start within the horizon ({@link horizonErrors}).
 *
 * A PENDING or CONFIRMED appointment in the future must also meet these conditions:
 * - every reference and the location of the program are active
 * - the program is at the location of the appointment and offers the service
 * - the practitioner works in the program
 */
export function judgeAppointment(
  draft: AppointmentDraft,
  references: AppointmentReferences,
  clock: ImportClock,
): JudgedAppointment | readonly FieldError[] {
  const { value, errors, patientId = "", practitionerId = "", serviceId = "", programId } = draft;
  const program = references.programs.get(programId);
  const patient = references.patients.get(patientId);
  const locationId = value.location === undefined ? program?.locationId : draft.locationId;
  const found = [
    ...errors,
    ...horizonErrors(draft.time, clock, program?.horizonDays),
    ...(patient === undefined ? [absentReference("appointment.patient", value.patient)] : []),
    ...referenceErrors(draft, references, locationId),
    ...fieldErrors(draft, references),
  ];
  if (found.length > 0 || patient === undefined || program === undefined || locationId === undefined) return found;
  const ahead = draft.time.isAhead ? aheadErrors(draft, references, program.locationId, locationId) : [];
  if (ahead.length > 0) return ahead;
  return { draft, patientId: patient.id, practitionerId, serviceId, locationId };
}

function referenceErrors(
  { value, time, practitionerId = "", serviceId = "", payerId = "" }: AppointmentDraft,
  references: AppointmentReferences,
  locationId = "",
): FieldError[] {
  const checked = [
    ["practitioner", value.practitioner, references.practitioners.get(practitionerId)],
    ["service", value.service, references.services.get(serviceId)],
    ["location", value.location, references.locations.get(locationId)],
    ["payer", value.payer, references.payers.get(payerId)],
  ] as const;
  return checked.flatMap(([name, reference, found]) => {
    if (reference === undefined) return [];
    if (found === undefined) return [absentReference(`appointment.${name}`, reference)];
    return time.isAhead && !found.active ? [inactiveReference(`appointment.${name}`, reference)] : [];
  });
}

function fieldErrors({ value, time, programId }: AppointmentDraft, references: AppointmentReferences): FieldError[] {
  const of = <T>(found: ReadonlyMap<string | undefined, T>, id: string | undefined) => found.get(id);
  const cancellation = of(references.cancellationReasons, value.cancellationReasonId);
  const noShow = of(references.noShowReasons, value.noShowReasonId);
  const reason = cancellation ?? noShow;
  const checked: readonly (readonly [field: string, id: string | undefined, found: Found])[] = [
    ["programId", programId, references.programs.get(programId)],
    ["appointmentTypeId", value.appointmentTypeId, of(references.types, value.appointmentTypeId)],
    ["requestSourceId", value.requestSourceId, of(references.sources, value.requestSourceId)],
    ["consultationTypeId", value.consultationTypeId, of(references.consultations, value.consultationTypeId)],
    ["cancellationReasonId", value.cancellationReasonId, cancellation],
    ["noShowReasonId", value.noShowReasonId, noShow],
  ];
  const errors = checked.flatMap(([field, id, found]) => {
    if (id === undefined) return [];
    if (found === undefined) return [missing(`appointment.${field}`)];
    return time.isAhead && !found.active ? [inactive(`appointment.${field}`)] : [];
  });
  if (reason?.requiresComment !== true || value.comment !== undefined) return errors;
  const message = "the field is required with this reason";
  return [...errors, { code: "REQUIRED", field: "appointment.comment", message }];
}

/**
 * Returns further errors of a PENDING or CONFIRMED appointment in the future ({@link judgeAppointment}). `home` is the
 * location of the program, and `locationId` is the location of the appointment.
 */
function aheadErrors(
  draft: AppointmentDraft,
  references: AppointmentReferences,
  home: string,
  locationId: string,
): FieldError[] {
  const { value, programId, patientId = "", practitionerId = "", serviceId = "" } = draft;
  const errors: FieldError[] = [];
  const refuse = (field: string, message: string) => errors.push({ code: "INVALID_VALUE", field, message });
  if (references.patients.get(patientId)?.status !== "ACTIVE") {
    const field = targetOf("appointment.patient", value.patient);
    errors.push({ code: "PATIENT_NOT_ACTIVE", field, message: "the patient is not active" });
  }
  if (home !== locationId) refuse("appointment.location", "the program is at another location");
  if (references.locations.get(home)?.active !== true) refuse("appointment.programId", "its location is not active");
  if (!references.offered.has(pairOf({ programId, memberId: serviceId })))
    refuse(targetOf("appointment.service", value.service), "the service is not offered in this program");
  if (!references.members.has(pairOf({ programId, memberId: practitionerId })))
    refuse(targetOf("appointment.practitioner", value.practitioner), "the practitioner does not work in this program");
  return errors;
}
