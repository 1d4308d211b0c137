import { demo } from "./demo-ids.js";
import { type Day, example, exampleOf, type RequestExamples, UNKNOWN_ID } from "./request-example.js";

const booked = { example: "BookAppointment", member: "appointment.appointmentId" } as const;
/**
 * The id of the appointment that the example `OverbookAppointment` creates. This appointment begins at the time of the
 * request, so its patient can be checked in immediately.
 */
const walkIn = { example: "OverbookAppointment", member: "appointment.appointmentId" } as const;
const held = { example: "HoldAppointmentOption", member: "hold.holdId" } as const;
const purpose = {
  serviceId: demo.service.general,
  requestSourceId: demo.requestSource.portal,
  appointmentTypeId: demo.appointmentType.control,
};

const lifeOfAnAppointment: RequestExamples = {
  MatchWaitlistEntry: exampleOf("waitlistEntryId", {
    example: "CreateWaitlistEntry",
    member: "waitlistEntry.id",
  }),
  BookAppointment: exampleOf(
    "optionToken",
    { example: "SearchAppointmentOptions", member: "options[0].optionToken" },
    {
      optionToken: "the token of an option",
      patientId: demo.patient.quintero,
      requestSourceId: demo.requestSource.portal,
      appointmentTypeId: demo.appointmentType.first,
    },
  ),
  OverbookAppointment: example({
    patientId: demo.patient.acuna,
    programId: demo.program.primary,
    practitionerId: demo.practitioner.mora,
    ...purpose,
    reason: "Llegó sin cita con una orden de hoy.",
  }),
  MoveAppointment: {
    request: {
      appointmentId: UNKNOWN_ID,
      optionToken: "the token of an option",
      expectedVersion: 1,
      validateOnly: true,
    },
    taken: {
      appointmentId: booked,
      optionToken: { example: "SearchAppointmentOptions toMove", member: "options[0].optionToken" },
    },
  },
  ConfirmAppointment: exampleOf("appointmentId", booked, { expectedVersion: 1 }),
  CheckInAppointment: exampleOf("appointmentId", walkIn, { expectedVersion: 1 }),
  MarkAppointmentAttended: exampleOf(
    "appointmentId",
    { example: "CheckInAppointment", member: "appointment.appointmentId" },
    { expectedVersion: 2 },
  ),
  MarkAppointmentNoShow: {
    ...exampleOf("appointmentId", walkIn, { expectedVersion: 1, noShowReasonId: demo.noShowReason.noNotice }),
    note: "Send it after the waiting time for the patient, by default 15 minutes after the start.",
  },
  EnterLateSteps: {
    request: {
      appointmentId: UNKNOWN_ID,
      expectedVersion: 1,
      arrivedAt: "2026-11-18T08:00:00-05:00",
      reason: "Se registró después de un corte de energía.",
    },
    taken: { appointmentId: walkIn, arrivedAt: { example: "OverbookAppointment", member: "appointment.startsAt" } },
  },
  CancelAppointment: exampleOf("appointmentId", booked, {
    expectedVersion: 1,
    cancellationReasonId: demo.cancellationReason.patient,
    comment: "Llamó el día anterior.",
  }),
  HoldAppointmentOption: exampleOf(
    "optionToken",
    { example: "SearchAppointmentOptions", member: "options[0].optionToken" },
    { optionToken: "the token of an option", minutes: 5 },
  ),
  GetHold: exampleOf("holdId", held),
  ReleaseHold: exampleOf("holdId", held),
  ListHolds: example({ patientId: demo.patient.quintero }),
  CorrectAppointmentStatus: exampleOf(
    "appointmentId",
    { example: "CheckInAppointment", member: "appointment.appointmentId" },
    { status: "CONFIRMED", reason: "Se registró a la persona equivocada.", expectedVersion: 2 },
  ),
  CorrectAppointmentWait: exampleOf(
    "appointmentId",
    { example: "CorrectAppointmentStatus", member: "appointment.appointmentId" },
    { firstVisit: false, reason: "Vino en enero a otra sede.", expectedVersion: 3 },
  ),
  ChangeAppointment: exampleOf(
    "appointmentId",
    { example: "CorrectAppointmentWait", member: "appointment.appointmentId" },
    { modality: "VIDEO", joinLink: "https://video.example.com/sala-7", expectedVersion: 4 },
  ),
  GetAppointment: exampleOf("appointmentId", booked),
  ListAppointmentChanges: exampleOf("appointmentId", booked),
};

/** Examples of searching and holding options, and of booking and changing appointments. */
export function bookingExamples(day: Day): RequestExamples {
  const criteria = { serviceId: demo.service.general, dateFrom: day(1), dateTo: day(30) };
  return {
    ...lifeOfAnAppointment,
    SearchAppointmentOptions: example({
      patientId: demo.patient.quintero,
      appointmentTypeId: demo.appointmentType.first,
      ...criteria,
    }),
    "SearchAppointmentOptions toMove": exampleOf("appointmentId", booked, criteria),
    BookAppointmentAt: {
      request: {
        patientId: demo.patient.cardenas,
        programId: demo.program.primary,
        practitionerId: demo.practitioner.rios,
        startsAt: `${day(3)}T08:00:00-05:00`,
        ...purpose,
      },
      taken: {
        practitionerId: { example: "SearchFreeSlots", member: "slots[0].practitionerId" },
        startsAt: { example: "SearchFreeSlots", member: "slots[0].startsAt" },
      },
    },
    EnterLateVisit: example({
      patientId: demo.patient.cardenas,
      programId: demo.program.primary,
      practitionerId: demo.practitioner.rios,
      startsAt: `${day(-1)}T08:00:00-05:00`,
      noShowAt: `${day(-1)}T08:30:00-05:00`,
      noShowReasonId: demo.noShowReason.noNotice,
      reason: "Se registró después de un corte de energía.",
      ...purpose,
    }),
    ListAppointments: example({ dateFrom: day(0), dateTo: day(30), includePatientNames: true }),
  };
}

/**
 * Examples of the methods of DisplacedAppointmentService, which list, accept, move or exchange appointments after a
 * change of the schedule.
 */
export function displacedExamples(day: Day): RequestExamples {
  return {
    ListDisplacedAppointments: example({ dateFrom: day(0), dateTo: day(30) }),
    AcceptDisplacedAppointments: {
      request: { choices: [{ appointmentId: UNKNOWN_ID, expectedVersion: 1 }] },
      taken: { "choices[0].appointmentId": booked },
    },
    SubstitutePractitioner: {
      request: {
        practitionerId: demo.practitioner.mora,
        choices: [{ appointmentId: UNKNOWN_ID, expectedVersion: 1 }],
      },
      taken: { "choices[0].appointmentId": booked },
    },
    SwapPractitioners: example({
      programId: demo.program.primary,
      practitionerId: demo.practitioner.mora,
      otherPractitionerId: demo.practitioner.salcedo,
      startsAt: `${day(60)}T08:00:00-05:00`,
      endsAt: `${day(60)}T12:00:00-05:00`,
    }),
    FindSubstitutes: { request: { appointmentIds: [UNKNOWN_ID] }, taken: { "appointmentIds[0]": booked } },
    OfferDisplacedAppointmentOptions: {
      request: { appointmentIds: [UNKNOWN_ID], dateFrom: day(1), dateTo: day(30) },
      taken: { "appointmentIds[0]": booked },
    },
  };
}
