import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Appointment, Appointment_Status, AppointmentSchema } from "../../gen/cupo/access/v1/appointment_pb.js";
import {
  type AppointmentChange,
  type AppointmentChange_Slot,
  AppointmentChange_SlotSchema,
  AppointmentChangeSchema,
} from "../../gen/cupo/clinic/v1/appointment_change_pb.js";
import {
  type AppointmentDetails,
  AppointmentDetails_RetentionCause,
  AppointmentDetails_Status,
  AppointmentDetailsSchema,
} from "../../gen/cupo/clinic/v1/appointment_details_pb.js";
import type { AppointmentChangeRecord } from "../../postgres/tables/appointments/appointment-history.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import type { Retention } from "../../postgres/tables/schedule/slots.js";
import { presentOf } from "../resources/present-of.js";

/** The messages of appointments, from what is kept. */

export function toAppointment(kept: AppointmentRecord): Appointment {
  const { id, patientId, serviceId, startsAt, endsAt, status, version } = kept;
  return create(AppointmentSchema, {
    id,
    patientId,
    serviceId,
    startsAt: timestampFromDate(startsAt),
    endsAt: timestampFromDate(endsAt),
    status: Appointment_Status[status],
    version,
  });
}

/** The message of a change, which for a booking has nothing before it. */
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
    ...presentOf({ cancellationReasonId, noShowReasonId, comment, actor, correctionReason, mergedFromPatientId }),
  });
}

function slotBefore(kept: AppointmentChangeRecord): AppointmentChange_Slot {
  const { fromStartsAt, fromEndsAt, fromProgramId, fromPractitionerId, fromLocationId } = kept;
  if (
    fromStartsAt === undefined ||
    fromEndsAt === undefined ||
    fromProgramId === undefined ||
    fromPractitionerId === undefined
  ) {
    throw new Error("a change of an appointment lacks the slot before it");
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

/** `retention` says why the slot of the appointment is retained; undefined where it is not. */
export function toAppointmentDetails(kept: AppointmentRecord, retention: Retention | undefined): AppointmentDetails {
  const { id: appointmentId, localDate: _, ruleId: __, startsAt, endsAt, createdAt, updatedAt, status, ...rest } = kept;
  return create(AppointmentDetailsSchema, {
    ...presentOf(rest),
    appointmentId,
    status: AppointmentDetails_Status[status],
    startsAt: timestampFromDate(startsAt),
    endsAt: timestampFromDate(endsAt),
    createdAt: timestampFromDate(createdAt),
    updatedAt: timestampFromDate(updatedAt),
    retained: retention !== undefined,
    ...(retention === undefined ? {} : retainedBy(retention)),
  });
}

function retainedBy({ cause, blockId, isAccepted }: Retention) {
  return {
    retainedBy: AppointmentDetails_RetentionCause[cause],
    ...(blockId === undefined ? {} : { scheduleBlockId: blockId }),
    retentionAccepted: isAccepted,
  };
}
