import { demo } from "./demo-ids.js";
import { type Day, example, type RequestExamples, UNKNOWN_ID } from "./request-example.js";

const times = "SearchAppointmentOptions forSeries";
const place = {
  programId: demo.program.primary,
  practitionerId: demo.practitioner.rios,
  serviceId: demo.service.general,
  requestSourceId: demo.requestSource.portal,
};

/** Examples of booking, moving and cancelling a series, and of booking a family. */
export function seriesExamples(day: Day): RequestExamples {
  const date = ordinaryDay(day);
  const appointmentTypeId = demo.appointmentType.control;
  const patientId = demo.patient.cardenas;
  return {
    [times]: example({ patientId, appointmentTypeId, serviceId: place.serviceId, dateFrom: date, dateTo: date }),
    BookSeries: {
      request: {
        patientId,
        ...place,
        appointmentTypeId,
        startsAt: `${date}T08:00:00-05:00`,
        intervalDays: 7,
        count: 2,
      },
      taken: slot(0),
    },
    BookTogether: {
      request: {
        ...place,
        startsAt: `${date}T09:00:00-05:00`,
        visits: [
          { patientId: demo.patient.quintero, appointmentTypeId },
          { patientId: demo.patient.acuna, appointmentTypeId },
        ],
      },
      taken: slot(9),
    },
    ...seriesChanges(date),
  };
}

/** Examples of moving and cancelling the series of the example `BookSeries`. */
function seriesChanges(date: string): RequestExamples {
  return {
    MoveSeries: {
      request: {
        seriesId: UNKNOWN_ID,
        fromAppointmentId: UNKNOWN_ID,
        expectedVersion: 1,
        startsAt: `${date}T10:00:00-05:00`,
        practitionerId: demo.practitioner.rios,
        validateOnly: true,
      },
      taken: {
        seriesId: { example: "BookSeries", member: "seriesId" },
        fromAppointmentId: { example: "BookSeries", member: "appointments[0].appointmentId" },
        ...slot(3),
      },
    },
    CancelSeries: {
      request: { seriesId: UNKNOWN_ID, cancellationReasonId: demo.cancellationReason.patient, comment: "Viajará." },
      taken: { seriesId: { example: "BookSeries", member: "seriesId" } },
    },
  };
}

function slot(index: number) {
  return {
    practitionerId: { example: times, member: `options[${index}].practitionerId` },
    startsAt: { example: times, member: `options[${index}].startsAt` },
  };
}

/** The holidays of Colombia that can be on a Tuesday, as MM-DD. */
const HOLIDAYS = new Set(["01-01", "05-01", "07-20", "08-07", "12-08", "12-25"]);

/** Returns a Tuesday three to seven weeks from now. Neither this day nor the next Tuesday is a holiday. */
function ordinaryDay(day: Day): string {
  const candidates = Array.from({ length: 28 }, (_, index) => 21 + index);
  const isOrdinary = (date: string) => new Date(date).getUTCDay() === 2 && !HOLIDAYS.has(date.slice(5));
  return day(candidates.find((days) => isOrdinary(day(days)) && isOrdinary(day(days + 7))) ?? 0);
}
