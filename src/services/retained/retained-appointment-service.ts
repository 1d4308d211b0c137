import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { ReadyCall } from "../../call.js";
import { AppointmentDetails_RetentionCause } from "../../gen/cupo/clinic/v1/appointment_details_pb.js";
import type {
  ListRetainedAppointmentsRequest,
  OfferRetainedAppointmentOptionsRequestValid,
  RetainedAppointmentService,
} from "../../gen/cupo/clinic/v1/retained_appointment_service_pb.js";
import { RetainedAppointmentOfferSchema } from "../../gen/cupo/clinic/v1/retained_appointment_service_pb.js";
import type { Implementation } from "../../implementation.js";
import type { OptionTokens } from "../../option-tokens/option-tokens.js";
import { listRetainedAppointments } from "../../postgres/tables/appointments/appointment-lists.js";
import { findAppointment } from "../../postgres/tables/appointments/appointments.js";
import { findPatient } from "../../postgres/tables/patients/patients.js";
import { findOccupiedSlots } from "../../postgres/tables/schedule/slots.js";
import { endOfLocalDay, startOfLocalDay } from "../../scheduling/local-clock.js";
import { pageOfAppointments } from "../appointments/appointment-pages.js";
import { findOptions } from "../appointments/option-search.js";
import { nameIn } from "../resources/enum-names.js";
import { acceptRetained } from "./retained-acceptance.js";
import { Refusal, refusalOf } from "./retained-refusals.js";
import { substitutePractitioner } from "./retained-substitution.js";

const USUAL_OPTIONS = 3;

/** What becomes of appointments whose slots are no longer there. `now` gives milliseconds since the epoch. */
export function createRetainedAppointmentService(
  now: () => number,
  tokens: OptionTokens,
): Implementation<typeof RetainedAppointmentService> {
  return {
    async listRetainedAppointments(request, call) {
      return listPage(request, call, now());
    },
    async acceptRetainedAppointments({ choices }, call) {
      return { outcomes: await acceptRetained(choices, call, now()) };
    },
    async substitutePractitioner({ choices, practitionerId }, call) {
      return { outcomes: await substitutePractitioner(choices, practitionerId, call, now()) };
    },
    async offerRetainedAppointmentOptions(request, call) {
      const offers: Offer[] = [];
      for (const id of request.appointmentIds) offers.push(await offerFor(id, request, call, tokens, now()));
      return { offers };
    },
  };
}

type Offer = MessageInitShape<typeof RetainedAppointmentOfferSchema>;

function listPage(request: ListRetainedAppointmentsRequest, call: ReadyCall, nowMs: number) {
  const { retainedBy, scheduleBlockId, programId, practitionerId, dateFrom, dateTo, includeAccepted = false } = request;
  const startMs = dateFrom === undefined ? 0 : Date.parse(startOfLocalDay(dateFrom));
  const filter = {
    cause: retainedBy === undefined ? undefined : nameIn(AppointmentDetails_RetentionCause, retainedBy),
    blockId: scheduleBlockId,
    programId,
    practitionerId,
    from: new Date(Math.max(nowMs + 1, startMs)),
    to: dateTo === undefined ? undefined : new Date(endOfLocalDay(dateTo)),
    includesAccepted: includeAccepted,
  };
  const filters = [retainedBy, scheduleBlockId, programId, practitionerId, dateFrom, dateTo, includeAccepted];
  return pageOfAppointments(request, "retained appointments", filters, (page) =>
    listRetainedAppointments(call.transaction, filter, page),
  );
}

async function offerFor(
  appointmentId: string,
  request: OfferRetainedAppointmentOptionsRequestValid,
  call: ReadyCall,
  tokens: OptionTokens,
  nowMs: number,
): Promise<Offer> {
  const { transaction } = call;
  const [appointment, held] = await Promise.all([
    findAppointment(transaction, appointmentId),
    findOccupiedSlots(transaction, appointmentId),
  ]);
  const patient = appointment && (await findPatient(transaction, appointment.patientId));
  const refusal = refusalOf({ appointment, held, patient }, appointment?.version, nowMs);
  if (refusal !== undefined || appointment === undefined) {
    return create(RetainedAppointmentOfferSchema, { appointmentId, refusal: refusal ?? Refusal.NOT_FOUND });
  }
  const { dateFrom, dateTo, practitionerId, optionsPerAppointment } = request;
  const wish = {
    patientId: undefined,
    appointmentId,
    serviceId: appointment.serviceId,
    dateFrom,
    dateTo,
    periods: [],
    locationId: undefined,
    practitionerId,
    includeEmergency: false,
    subjectField: "appointmentId",
    dueOn: appointment.dueOn,
    appointmentTypeId: undefined,
  } as const;
  const page = { pageSize: optionsPerAppointment || USUAL_OPTIONS, pageToken: undefined };
  const { options } = await findOptions(wish, page, call, tokens, nowMs);
  return create(RetainedAppointmentOfferSchema, { appointmentId, options });
}
