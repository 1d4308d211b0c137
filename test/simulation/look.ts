import type { JsonObject } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { expect } from "vitest";
import type { AppointmentBody } from "../schedule/clinic.js";
import { search } from "./booking-steps.js";
import { type AppointmentModel, type ClinicModel, countOn, dayOf, type SlotModel } from "./clinic-model.js";
import { heldOn } from "./hold-model.js";
import { appointmentShown, nth, readTimes, steps } from "./step.js";
import { PATIENTS, TYPE_MINUTES, type World } from "./world.js";

/** Compares the whole state of the service with the model. */
export const looks = steps("look", { patient: fc.nat({ max: PATIENTS - 1 }) }, { run: (...all) => look(...all) });

/**
 * Requires the appointments, the occupancy of each day and the options of a patient to equal the model's, and all
 * invariants to hold.
 */
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
  const shown = (body["appointments"] as AppointmentBody[]).map((each) => [each.appointmentId, readTimes(each)]);
  const wanted = clinic.appointments.map((each) => [
    world.appointmentIds[each.id],
    expect.objectContaining(appointmentShown(clinic, world, each)),
  ]);
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(wanted));
}

async function expectOccupancy(clinic: ClinicModel, world: World): Promise<void> {
  const [dateFrom, dateTo] = world.dates;
  const { body } = await world.call("GetOccupancy", { dateFrom, dateTo });
  const shown = body["programDays"] as readonly ProgramDay[];
  for (const [program, { programId }] of world.clinics.entries()) {
    for (const [day, date] of world.dates.entries()) {
      const found = shown.find((each) => each.date === date && each.programId === programId);
      expect({ ...NO_DAY, ...found }).toMatchObject(capacityOn(clinic, program, day));
      for (const [practitioner, practitionerId] of world.practitionerIds.entries()) {
        const row = found?.practitioners.find((each) => each.practitionerId === practitionerId);
        expect({ ...NOTHING, ...row }).toMatchObject(occupancyOf(clinic, program, day, practitioner));
      }
    }
  }
}

interface ProgramDay {
  readonly date: string;
  readonly programId: string;
  readonly practitioners: readonly { readonly practitionerId: string }[];
}

const NO_DAY = { capacity: 0, capacityLeft: 0 };
const NOTHING = {
  heldSlotCount: 0,
  openSlotCount: 0,
  passedSlotCount: 0,
  bookedAppointmentCount: 0,
  displacedAppointmentCount: 0,
};

/** Returns the capacity that the service shows. A day without free slots and appointments is shown without capacity. */
function capacityOn(clinic: ClinicModel, program: number, day: number) {
  const { rule } = nth(clinic.programs, program);
  const counted = countOn(clinic, program, day);
  const booked = countOn({ ...clinic, holds: [] }, program, day);
  const isOpen = rule.active && (booked > 0 || freeOn(clinic, program, day).length > 0);
  return isOpen ? { capacity: rule.capacity, capacityLeft: Math.max(0, rule.capacity - counted) } : NO_DAY;
}

function occupancyOf(clinic: ClinicModel, program: number, day: number, practitioner: number) {
  const free = freeOn(clinic, program, day).filter((slot) => slot.practitioner === practitioner);
  const live = clinic.appointments.filter(
    (each) =>
      each.program === program &&
      each.practitioner === practitioner &&
      dayOf(each.start) === day &&
      each.status !== "CANCELLED",
  );
  const retained = live.filter((each) => isRetained(clinic, each));
  const passed = free.filter(({ start }) => start <= clinic.now);
  const heldSlotCount = heldOn(clinic, program, day, practitioner);
  return {
    heldSlotCount,
    openSlotCount: free.length - passed.length - heldSlotCount,
    passedSlotCount: passed.length,
    bookedAppointmentCount: live.length - retained.length,
    displacedAppointmentCount: retained.length,
  };
}

function freeOn({ slots }: ClinicModel, program: number, day: number): SlotModel[] {
  return slots.filter(
    (slot) => slot.appointment === undefined && slot.program === program && dayOf(slot.start) === day,
  );
}

function isRetained({ slots }: ClinicModel, appointment: AppointmentModel): boolean {
  return slots.some((slot) => slot.appointment === appointment && slot.retained);
}
