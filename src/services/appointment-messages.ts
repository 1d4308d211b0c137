import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Appointment, Appointment_Status, AppointmentSchema } from "../gen/cupo/access/v1/appointment_pb.js";
import { type AppointmentDetails, AppointmentDetailsSchema } from "../gen/cupo/clinic/v1/appointment_details_pb.js";
import type { AppointmentRecord } from "../postgres/appointments.js";

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

/** `isRetained` says whether the rules no longer have the slot that the appointment occupies. */
export function toAppointmentDetails(kept: AppointmentRecord, isRetained: boolean): AppointmentDetails {
  const { localDate: _, ruleId: __, startsAt, endsAt, createdAt, updatedAt, status, ...rest } = kept;
  const present = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return create(AppointmentDetailsSchema, {
    ...present,
    status: Appointment_Status[status],
    startsAt: timestampFromDate(startsAt),
    endsAt: timestampFromDate(endsAt),
    createdAt: timestampFromDate(createdAt),
    updatedAt: timestampFromDate(updatedAt),
    retained: isRetained,
  });
}
