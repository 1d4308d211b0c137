import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { ReadyCall } from "../../call.js";
import { AppointmentDetails_DisplacementCause } from "../../gen/cupo/clinic/v1/appointment_details_pb.js";
import type {
  DisplacedAppointmentService,
  ListDisplacedAppointmentsRequest,
  OfferDisplacedAppointmentOptionsRequestValid,
} from "../../gen/cupo/clinic/v1/displaced_appointment_service_pb.js";
import { DisplacedAppointmentOfferSchema } from "../../gen/cupo/clinic/v1/displaced_appointment_service_pb.js";
import type { Implementation } from "../../implementation.js";
import type { OptionTokens } from "../../option-tokens/option-tokens.js";
import { listDisplacedAppointments } from "../../postgres/tables/appointments/appointment-lists.js";
import { findAppointment } from "../../postgres/tables/appointments/appointments.js";
import { findSubstitutes, type Substitute } from "../../postgres/tables/displaced/substitutes.js";
import { findPatient } from "../../postgres/tables/patients/patients.js";
import { findOccupiedSlots } from "../../postgres/tables/schedule/slots.js";
import { endOfLocalDay, startOfLocalDay } from "../../scheduling/local-clock.js";
import { toAppointmentDetails } from "../appointments/appointment-messages.js";
import { pageOfAppointments } from "../appointments/appointment-pages.js";
import { findOptions } from "../appointments/option-search.js";
import { nameIn } from "../resources/enum-names.js";
import { acceptDisplaced } from "./displaced-acceptance.js";
import { refusalOf } from "./displaced-refusals.js";
import { substitutePractitioner } from "./displaced-substitution.js";
import { swapPractitioners } from "./practitioner-swap.js";

const USUAL_OPTIONS = 3;

/**
 * Creates the service for decisions about appointments whose slots are no longer in the schedule. `now` returns
 * milliseconds since the epoch.
 */
export function createDisplacedAppointmentService(
  now: () => number,
  tokens: OptionTokens,
): Implementation<typeof DisplacedAppointmentService> {
  return {
    async listDisplacedAppointments(request, call) {
      return listPage(request, call, now());
    },
    async acceptDisplacedAppointments({ choices }, call) {
      return { outcomes: await acceptDisplaced(choices, call, now()) };
    },
    async substitutePractitioner({ choices, practitionerId }, call) {
      return { outcomes: await substitutePractitioner(choices, practitionerId, call, now()) };
    },
    async swapPractitioners(request, call) {
      const moved = await swapPractitioners(request, call, now());
      return { appointments: moved.map((appointment) => toAppointmentDetails(appointment, undefined)) };
    },
    async findSubstitutes({ appointmentIds }, { transaction, principal }) {
      return { substitutes: (await findSubstitutes(transaction, principal, appointmentIds, now())).map(toSubstitute) };
    },
    async offerDisplacedAppointmentOptions(request, call) {
      const nowMs = now();
      const offers: Offer[] = [];
      for (const id of request.appointmentIds) offers.push(await offerFor(id, request, call, tokens, nowMs));
      return { offers };
    },
  };
}

function toSubstitute({ practitionerId, appointmentIds }: Substitute) {
  return { practitionerId, appointmentIds: [...appointmentIds] };
}

type Offer = MessageInitShape<typeof DisplacedAppointmentOfferSchema>;

function listPage(request: ListDisplacedAppointmentsRequest, call: ReadyCall, nowMs: number) {
  const {
    displacedBy,
    scheduleBlockId,
    programId,
    practitionerId,
    dateFrom,
    dateTo,
    includeAccepted = false,
  } = request;
  const startMs = dateFrom === undefined ? 0 : Date.parse(startOfLocalDay(dateFrom));
  const filter = {
    cause: displacedBy === undefined ? undefined : nameIn(AppointmentDetails_DisplacementCause, displacedBy),
    blockId: scheduleBlockId,
    programId,
    practitionerId,
    from: new Date(Math.max(nowMs + 1, startMs)),
    to: dateTo === undefined ? undefined : new Date(endOfLocalDay(dateTo)),
    includesAccepted: includeAccepted,
  };
  const filters = [displacedBy, scheduleBlockId, programId, practitionerId, dateFrom, dateTo, includeAccepted];
  return pageOfAppointments(request, "displaced appointments", filters, (page) =>
    listDisplacedAppointments(call.transaction, filter, page),
  );
}

async function offerFor(
  appointmentId: string,
  request: OfferDisplacedAppointmentOptionsRequestValid,
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
    return create(DisplacedAppointmentOfferSchema, { appointmentId, refusal });
  }
  const { dateFrom, dateTo, practitionerId, optionsPerAppointment } = request;
  const criteria = {
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
  const { options } = await findOptions(criteria, page, call, tokens, nowMs);
  return create(DisplacedAppointmentOfferSchema, { appointmentId, options });
}
