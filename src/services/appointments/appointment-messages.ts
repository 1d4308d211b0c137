import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Appointment, Appointment_Status, AppointmentSchema } from "../../gen/cupo/access/v1/appointment_pb.js";
import {
  type AppointmentChange,
  type AppointmentChange_Slot,
  AppointmentChange_SlotSchema,
  AppointmentChange_VisitSchema,
  AppointmentChange_WaitSchema,
  AppointmentChangeSchema,
} from "../../gen/cupo/clinic/v1/appointment_change_pb.js";
import {
  type AppointmentDetails,
  AppointmentDetails_DisplacementCause,
  AppointmentDetails_Modality,
  AppointmentDetails_Status,
  AppointmentDetailsSchema,
} from "../../gen/cupo/clinic/v1/appointment_details_pb.js";
import type { AppointmentChangeRecord, RecordedVisit } from "../../postgres/tables/appointments/appointment-history.js";
import {
  type AppointmentRecord,
  type VisitModality,
  visitEndOf,
} from "../../postgres/tables/appointments/appointments.js";
import type { Displacement } from "../../postgres/tables/schedule/slots.js";
import { presentOf } from "../resources/present-of.js";
import type { ChangedAppointment } from "./appointment-transitions.js";

/** Converts an appointment record to the Appointment message of the access API. */
export function toAppointment(kept: AppointmentRecord): Appointment {
  const { id, patientId, serviceId, startsAt, status, version } = kept;
  return create(AppointmentSchema, {
    id,
    patientId,
    serviceId,
    startsAt: timestampFromDate(startsAt),
    endsAt: timestampFromDate(visitEndOf(kept)),
    status: Appointment_Status[status],
    version,
  });
}

/**
 * Converts a change record to the AppointmentChange message. The record of the first change has no previous status and
 * no previous slot.
 */
export function toAppointmentChange(kept: AppointmentChangeRecord): AppointmentChange {
  const { appointmentId, version, principal, correlationId, fromStatus } = kept;
  const { cancellationReasonId, noShowReasonId, comment, actor, correctionReason, mergedFromPatientId } = kept;
  return create(AppointmentChangeSchema, {
    appointmentId,
    version,
    ...(fromStatus === undefined
      ? {}
      : { fromStatus: AppointmentDetails_Status[fromStatus], fromSlot: slotBefore(kept) }),
    toStatus: AppointmentDetails_Status[kept.toStatus],
    toSlot: slotOf(kept.toStartsAt, kept.toEndsAt, kept.toProgramId, kept.toPractitionerId, kept.toLocationId),
    changedAt: timestampFromDate(kept.changedAt),
    principal,
    correlationId,
    ...(kept.happenedAt && { happenedAt: timestampFromDate(kept.happenedAt) }),
    ...(kept.waitBefore && { fromWait: create(AppointmentChange_WaitSchema, presentOf(kept.waitBefore)) }),
    ...(kept.visitBefore && { fromVisit: visitOf(kept.visitBefore) }),
    ...presentOf({ cancellationReasonId, noShowReasonId, comment, actor, correctionReason, mergedFromPatientId }),
  });
}

function visitOf({ modality, ...visit }: RecordedVisit) {
  return create(AppointmentChange_VisitSchema, { ...presentOf(visit), ...modalityOf(modality) });
}

function modalityOf(modality: VisitModality | undefined) {
  return modality && { modality: AppointmentDetails_Modality[modality] };
}

function slotBefore(kept: AppointmentChangeRecord): AppointmentChange_Slot {
  const { fromStartsAt, fromEndsAt, fromProgramId, fromPractitionerId, fromLocationId } = kept;
  if (
    fromStartsAt === undefined ||
    fromEndsAt === undefined ||
    fromProgramId === undefined ||
    fromPractitionerId === undefined
  ) {
    throw new Error("the appointment change has a previous status but no previous slot");
  }
  return slotOf(fromStartsAt, fromEndsAt, fromProgramId, fromPractitionerId, fromLocationId);
}

function slotOf(
  startsAt: Date,
  endsAt: Date,
  programId: string,
  practitionerId: string,
  locationId: string | undefined,
): AppointmentChange_Slot {
  return create(AppointmentChange_SlotSchema, {
    startsAt: timestampFromDate(startsAt),
    endsAt: timestampFromDate(endsAt),
    programId,
    practitionerId,
    ...presentOf({ locationId }),
  });
}

/**
 * Converts an appointment record to the AppointmentDetails message. `displacement` says why slots of the appointment
 * are no longer in the schedule; undefined if there are no such slots.
 */
export function toAppointmentDetails(
  kept: AppointmentRecord,
  displacement: Displacement | undefined,
): AppointmentDetails {
  const { id: appointmentId, localDate: _, ruleId: __, startsAt, createdAt, updatedAt, ...others } = kept;
  const { endsAt: ___, visitEndsAt: ____, status, modality, ...rest } = others;
  return create(AppointmentDetailsSchema, {
    ...presentOf(rest),
    appointmentId,
    status: AppointmentDetails_Status[status],
    ...modalityOf(modality),
    startsAt: timestampFromDate(startsAt),
    endsAt: timestampFromDate(visitEndOf(kept)),
    createdAt: timestampFromDate(createdAt),
    updatedAt: timestampFromDate(updatedAt),
    displaced: displacement !== undefined,
    ...(displacement === undefined ? {} : displacedBy(displacement)),
  });
}

/** Returns the response of an operation that changed an appointment. */
export function detailsOf({ appointment, displacement }: ChangedAppointment): { appointment: AppointmentDetails } {
  return { appointment: toAppointmentDetails(appointment, displacement) };
}

function displacedBy({ cause, blockId, isAccepted }: Displacement) {
  return {
    displacedBy: AppointmentDetails_DisplacementCause[cause],
    ...(blockId === undefined ? {} : { scheduleBlockId: blockId }),
    displacementAccepted: isAccepted,
  };
}
