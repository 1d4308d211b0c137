import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type AppointmentHold, AppointmentHoldSchema } from "../../gen/cupo/clinic/v1/appointment_hold_pb.js";
import type { HoldRecord } from "../../postgres/tables/holds/holds.js";

/**
 * Converts a hold record to the AppointmentHold message. If the hold expired and the record has no `endedAt`, the
 * message has the time of expiry as `endedAt`. `optionToken` is the token with which the hold can be booked; undefined
 * if the response has no token.
 */
export function toAppointmentHold(hold: HoldRecord, nowMs: number, optionToken?: string): AppointmentHold {
  const { id: holdId, patientId, appointmentId, serviceId, programId, locationId, practitionerId } = hold;
  const { startsAt, endsAt, expiresAt, bookedAppointmentId, waitlistEntryId } = hold;
  const endedAt = hold.endedAt ?? (expiresAt.getTime() <= nowMs ? expiresAt : undefined);
  return create(AppointmentHoldSchema, {
    holdId,
    patientId,
    ...(appointmentId === undefined ? {} : { appointmentId }),
    serviceId,
    programId,
    locationId,
    practitionerId,
    startsAt: timestampFromDate(startsAt),
    endsAt: timestampFromDate(endsAt),
    expiresAt: timestampFromDate(expiresAt),
    ...(endedAt === undefined ? {} : { endedAt: timestampFromDate(endedAt) }),
    ...(bookedAppointmentId === undefined ? {} : { bookedAppointmentId }),
    ...(optionToken === undefined ? {} : { optionToken }),
    ...(waitlistEntryId === undefined ? {} : { waitlistEntryId }),
  });
}
