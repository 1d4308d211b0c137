import { expect } from "vitest";
import { AppointmentDetails_Status as Status } from "../../../src/gen/cupo/clinic/v1/appointment_details_pb.js";
import type { WriteTask } from "./tasks.js";
import { findPatient } from "./usual-steps.js";
import { given, momentOf, timeOf, type Week } from "./week.js";

const [YURANI, ADRIANA] = ["Yurani Paola Mosquera Lozano", "Adriana Milena Cifuentes Rozo"];
const SECONDS_PER_WEEK = 604_800n;

/** Series and families: booked, moved and cancelled at once. */
export function series(task: WriteTask): void {
  task("Book a series of visits", async (week) => {
    const { patientId } = await findPatient(week.reception, YURANI);
    const { appointments } = await week.reception.series.bookSeries({
      patientId,
      ...placeOf(week),
      appointmentTypeId: week.id("appointment type", "CONTROL"),
      startsAt: nextWeekAt("10:00"),
      intervalDays: 7,
      count: 4,
    });
    expect(appointments.map(({ startsAt }) => timeOf(startsAt))).toEqual(Array(4).fill("10:00"));
    week.keep(YURANI, appointments[0]);
  });

  task("Move the rest of a series", async (week) => {
    const seriesId = seriesOf(week);
    const { appointments } = await week.reception.booking.listAppointments({ seriesId });
    const { appointmentId, version, startsAt } = given(appointments[1]);
    const moved = await week.reception.series.moveSeries({
      seriesId,
      fromAppointmentId: appointmentId,
      expectedVersion: version,
      startsAt: { seconds: given(startsAt).seconds + 3_600n },
    });
    expect(moved.appointments.map((each) => timeOf(each.startsAt))).toEqual(Array(3).fill("11:00"));
    week.keep(YURANI, moved.appointments[1]);
  });

  task("Cancel the rest of a series", async (week) => {
    const { appointments } = await week.reception.series.cancelSeries({
      seriesId: seriesOf(week),
      fromAppointmentId: week.latest(YURANI).appointmentId,
      cancellationReasonId: week.id("cancellation reason", "OTRA"),
      comment: "Terminó antes.",
    });
    expect(appointments.map(({ status }) => status)).toEqual([Status.CANCELLED, Status.CANCELLED]);
  });

  task("Book a family back to back", async (week) => {
    const appointmentTypeId = week.id("appointment type", "CONTROL");
    const family = [];
    for (const whose of [YURANI, ADRIANA]) family.push(await findPatient(week.reception, whose));
    const { appointments } = await week.reception.series.bookTogether({
      ...placeOf(week),
      startsAt: nextWeekAt("14:00"),
      visits: family.map(({ patientId }) => ({ patientId, appointmentTypeId })),
    });
    expect(appointments.map(({ startsAt }) => timeOf(startsAt))).toEqual(["14:00", "14:20"]);
  });

  task("Leave time after visits of a type", async (week) => {
    const appointmentTypeId = week.id("appointment type", "ODONTO");
    const { appointmentType } = await week.supervisor.catalogs.getAppointmentType({ appointmentTypeId });
    const expectedVersion = given(appointmentType).version;
    const changed = { appointmentTypeId, expectedVersion, bufferMinutes: 10 };
    const answer = await week.supervisor.catalogs.updateAppointmentTypeBuffer(changed);
    expect(given(answer.appointmentType).bufferMinutes).toBe(10);
  });
}

function placeOf(week: Week) {
  return {
    programId: week.id("program", "PRIMARIA"),
    practitionerId: week.id("practitioner", "P-03"),
    serviceId: week.id("service", "MEDGEN"),
    requestSourceId: week.id("request source", "CALLCENTER"),
  };
}

/** Returns a time of the Wednesday after the week. */
function nextWeekAt(time: string) {
  return { seconds: momentOf("Wednesday", time).seconds + SECONDS_PER_WEEK };
}

function seriesOf(week: Week): string {
  return given(week.kept(YURANI).seriesId);
}
