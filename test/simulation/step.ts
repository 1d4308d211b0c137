import * as fc from "fast-check";
import { expect } from "vitest";
import type { AppointmentBody } from "../schedule/clinic.js";
import { itemsOf } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import type { Verdict } from "./booking-model.js";
import type { AppointmentModel, ClinicModel, Time } from "./clinic-model.js";
import type { World } from "./world.js";

/** Something that is done to the service and to its model at once, and what they say of it compared. */
export type Step = fc.AsyncCommand<ClinicModel, World>;

/** What a step does with its parameters; false from `isPossible` leaves it out. */
export interface StepTerms<Parameters> {
  readonly isPossible?: (clinic: ClinicModel, parameters: Parameters) => boolean;
  readonly run: (clinic: ClinicModel, world: World, parameters: Parameters) => Promise<void>;
}

/** Steps of a kind, whose parameters fast-check makes, shrinks and prints. */
export function steps<Parameters extends object>(
  name: string,
  parameters: { [Key in keyof Parameters]: fc.Arbitrary<Parameters[Key]> },
  { isPossible = () => true, run }: StepTerms<Parameters>,
): fc.Arbitrary<Step> {
  return fc.record(parameters).map((chosen) => ({
    check: (clinic) => isPossible(clinic, chosen),
    run: (clinic, world) => run(clinic, world, chosen),
    toString: () => `${name} ${JSON.stringify(chosen)}`,
  }));
}

/** One of a list that is not empty, for any natural number. */
export function nth<T>(items: readonly T[], number: number): T {
  const item = items[number % items.length];
  if (item === undefined) throw new Error("there is nothing to choose from");
  return item;
}

/** Requires an answer to be the verdict, and notes the id of an appointment that is new. */
export function expectVerdict(clinic: ClinicModel, world: World, answer: RestAnswer, verdict: Verdict): void {
  if ("refused" in verdict) {
    expect({ status: answer.status, errors: itemsOf(answer) }).toEqual({
      status: verdict.refused,
      errors: verdict.errors,
    });
    return;
  }
  expect({ status: answer.status, errors: itemsOf(answer) }).toEqual({ status: 200, errors: [] });
  const { id = "", ...appointment } = answer.body["appointment"] as Partial<AppointmentBody> & {
    id?: string;
  };
  const { appointmentId = id, startsAt = "", endsAt = "" } = appointment;
  const shown = { ...appointment, appointmentId, startsAt, endsAt };
  world.appointmentIds[verdict.id] ??= appointmentId;
  const whole = appointmentShown(clinic, world, verdict);
  const parts = Object.entries(whole).filter(([name]) => id === "" || name in shown);
  expect(readTimes(shown)).toMatchObject(Object.fromEntries(parts));
}

/** An appointment as the clinic's own operations show it, as far as the model knows it; times in milliseconds. */
export function appointmentShown(clinic: ClinicModel, world: World, appointment: AppointmentModel): object {
  const { id, patient, status, version, overbooked } = appointment;
  return {
    appointmentId: world.appointmentIds[id],
    patientId: world.patientIds[patient],
    status,
    version,
    overbooked,
    retained: clinic.slots.some((slot) => slot.appointment === appointment && slot.retained),
    ...timeShown(world, appointment),
  };
}

export function timeShown(world: World, { program, practitioner, start, end }: Time): object {
  return {
    programId: world.clinics[program]?.programId,
    practitionerId: world.practitionerIds[practitioner],
    startsAt: world.msOf(start),
    endsAt: world.msOf(end),
  };
}

/** What the service shows, with its times in milliseconds. */
export function readTimes<Shown extends { readonly startsAt: string; readonly endsAt: string }>(shown: Shown) {
  return { ...shown, startsAt: Date.parse(shown.startsAt), endsAt: Date.parse(shown.endsAt) };
}
