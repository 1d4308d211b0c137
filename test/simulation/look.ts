import type { JsonObject } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect } from "vitest";
import { search } from "./booking-steps.js";
import { type AppointmentModel, type ClinicModel, countOn, dayOf, type SlotModel } from "./clinic-model.js";
import { appointmentShown, readTimes, steps } from "./step.js";
import { PATIENTS, PRACTITIONERS, TYPE_MINUTES, type World } from "./world.js";

/** Compares all that is there. */
export const looks = steps("look", { patient: fc.nat({ max: PATIENTS - 1 }) }, { run: (...all) => look(...all) });

/** Requires every appointment, what each day has and every option for a patient to be the model's, and no invariant to be broken. */
export async function look(clinic: ClinicModel, world: World, { patient }: { patient: number }): Promise<void> {
  await expectAppointments(clinic, world);
  await expectOccupancy(clinic, world);
  await search(clinic, world, { patient }, undefined);
  await search(clinic, world, { patient }, TYPE_MINUTES);
  const { body } = await world.call("VerifyInvariants", {});
  expect((body["invariantReport"] as JsonObject)["findings"]).toEqual([]);
}

async function expectAppointments(clinic: ClinicModel, world: World): Promise<void> {
  const { body } = await world.call("ListAppointments", { pageSize: 200 });
  const shown = (body["appointments"] as JsonObject[]).map((each) => [`${each["appointmentId"]}`, readTimes(each)]);
  const wanted = clinic.appointments.map((each) => [
    world.appointmentIds[each.id],
    expect.objectContaining(appointmentShown(clinic, world, each)),
  ]);
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(wanted));
}

async function expectOccupancy(clinic: ClinicModel, world: World): Promise<void> {
  const [dateFrom, dateTo] = world.dates;
  const { body } = await world.call("GetOccupancy", { dateFrom, dateTo });
  const shown = (body["programDays"] as JsonObject[]).map((each) => [`${each["date"]} ${each["programId"]}`, each]);
  const days = Object.fromEntries(shown) as Record<string, JsonObject>;
  for (const [program, { rule }] of clinic.programs.entries()) {
    for (const [day, date] of world.dates.entries()) {
      const isOnDay = (each: SlotModel | AppointmentModel) => each.program === program && dayOf(each.start) === day;
      const free = clinic.slots.filter((slot) => isOnDay(slot) && slot.appointment === undefined);
      const live = clinic.appointments.filter((each) => isOnDay(each) && each.status !== "CANCELLED");
      const counted = countOn(clinic, program, day);
      const isOpen = rule.active && (free.length > 0 || counted > 0);
      const found = days[`${date} ${world.clinics[program]?.programId}`];
      expect({ capacity: 0, capacityLeft: 0, ...found }).toMatchObject({
        capacity: isOpen ? rule.capacity : 0,
        capacityLeft: isOpen ? Math.max(0, rule.capacity - counted) : 0,
      });
      const rows = (found?.["practitioners"] ?? []) as JsonObject[];
      for (let practitioner = 0; practitioner < PRACTITIONERS; practitioner++) {
        const row = rows.find((each) => each["practitionerId"] === world.practitionerIds[practitioner]);
        const mine = live.filter((each) => each.practitioner === practitioner);
        const open = free.filter((slot) => slot.practitioner === practitioner);
        expect({ ...NOTHING, ...row }).toMatchObject({
          openSlotCount: open.filter(({ start }) => start > clinic.now).length,
          passedSlotCount: open.filter(({ start }) => start <= clinic.now).length,
          bookedAppointmentCount: mine.filter((each) => !isRetained(clinic, each)).length,
          retainedAppointmentCount: mine.filter((each) => isRetained(clinic, each)).length,
        });
      }
    }
  }
}

const NOTHING = { openSlotCount: 0, passedSlotCount: 0, bookedAppointmentCount: 0, retainedAppointmentCount: 0 };

function isRetained({ slots }: ClinicModel, appointment: AppointmentModel): boolean {
  return slots.some((slot) => slot.appointment === appointment && slot.retained);
}
