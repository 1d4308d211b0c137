import { expect } from "vitest";
import { AppointmentDetails_DisplacementCause as Cause } from "../../../src/gen/cupo/clinic/v1/appointment_details_pb.js";
import { ScheduleBlockDetails_Kind as Kind } from "../../../src/gen/cupo/clinic/v1/schedule_block_details_pb.js";
import { series } from "./series.js";
import type { WriteTask } from "./tasks.js";
import { bookBySearch } from "./usual-steps.js";
import { DATES, given, momentOf, timeOf, type Week } from "./week.js";

const [ANGELA, JULIAN, ROSA] = [
  "Ángela Yineth Cárdenas Díaz",
  "Julián Andrés Echeverri Sánchez",
  "Rosa Elvira Chaparro Niño",
];

/** Thursday: a practitioner's absence is blocked, appointments are reassigned, and the block is cancelled. */
export function thursday(task: WriteTask): void {
  task("Preview a practitioner's absence", async (week) => {
    week.itIs("Thursday", "06:30");
    for (const [whose, time] of [
      [ANGELA, "08:00"],
      [JULIAN, "08:20"],
      [ROSA, "08:40"],
    ] as const) {
      await bookBySearch(week, week.others, { whose, day: "Friday", time, with: "P-02" });
    }
    const { effect } = await week.reception.blocks.createScheduleBlock({ ...illness(week), validateOnly: true });
    expect(effect?.displacedAppointmentCount).toBe(3);
    expect(effect?.displacedAppointments.map(({ startsAt }) => timeOf(startsAt))).toEqual(["08:00", "08:20", "08:40"]);
  });

  task("Block a practitioner's days", async (week) => {
    const { blocks, displaced } = week.reception;
    const { scheduleBlock, effect } = await blocks.createScheduleBlock(illness(week));
    const { scheduleBlockId } = given(scheduleBlock);
    expect(effect).toMatchObject({ displacedAppointmentCount: 3, withdrawnSlotCount: 2 * 27 - 3 });
    const { appointments } = await displaced.listDisplacedAppointments({ scheduleBlockId });
    expect(appointments.map(({ displacedBy }) => displacedBy)).toEqual(Array(3).fill(Cause.BLOCK));
    for (const whose of [ANGELA, JULIAN, ROSA]) {
      week.keep(
        whose,
        appointments.find(({ appointmentId }) => appointmentId === week.kept(whose).appointmentId),
      );
    }
    week.learn("schedule block", [["illness", scheduleBlockId]]);
  });

  task("Ask which colleagues are free", async (week) => {
    const { displaced } = week.reception;
    const { appointments } = await displaced.listDisplacedAppointments({ pageSize: 1 });
    const appointmentIds = appointments.map(({ appointmentId }) => appointmentId);
    const { substitutes } = await displaced.findSubstitutes({ appointmentIds });
    expect(substitutes.length).toBeGreaterThan(0);
    for (const substitute of substitutes) expect(substitute.appointmentIds).toEqual(appointmentIds);
  });

  task("Substitute the practitioner", async (week) => {
    const { outcomes } = await week.reception.displaced.substitutePractitioner({
      practitionerId: week.id("practitioner", "P-03"),
      choices: [week.latest(ANGELA)],
    });
    expect(week.keep(ANGELA, outcomes[0]?.appointment)).toMatchObject({
      practitionerId: week.id("practitioner", "P-03"),
      displaced: false,
    });
    expect(timeOf(week.kept(ANGELA).startsAt)).toBe("08:00");
  });

  task("Offer other times and move one appointment", async (week) => {
    const { displaced, rescheduling } = week.reception;
    const { offers } = await displaced.offerDisplacedAppointmentOptions({
      appointmentIds: [JULIAN, ROSA].map((whose) => week.latest(whose).appointmentId),
      dateFrom: DATES.Friday,
      dateTo: DATES.Friday,
    });
    expect(offers.map(({ options }) => options.length > 0)).toEqual([true, true]);
    const { optionToken, startsAt } = given(offers[0]?.options[0]);
    const moved = await rescheduling.rescheduleAppointment({ ...week.latest(JULIAN), optionToken });
    expect(moved.appointment).toMatchObject({ id: week.latest(JULIAN).appointmentId, startsAt });
  });

  task("Keep a displaced appointment", async (week) => {
    const { outcomes } = await week.reception.displaced.acceptDisplacedAppointments({ choices: [week.latest(ROSA)] });
    expect(outcomes[0]?.refusal).toBeUndefined();
    week.keep(ROSA, outcomes[0]?.appointment);
  });

  task("Cancel the block", async (week) => {
    week.itIs("Thursday", "16:00");
    const { effect } = await week.reception.blocks.cancelScheduleBlock({
      scheduleBlockId: week.id("schedule block", "illness"),
      expectedVersion: 1,
    });
    expect(effect?.restoredSlotCount).toBe(28);
  });

  series(task);
}

function illness(week: Week) {
  return {
    practitionerId: week.id("practitioner", "P-02"),
    startsAt: momentOf("Thursday", "06:40"),
    endsAt: momentOf("Friday", "23:00"),
    kind: Kind.ILLNESS,
  };
}
