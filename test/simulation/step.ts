import type { JsonObject } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { expect } from "vitest";
import type { AppointmentBody } from "../schedule/clinic.js";
import { itemsOf } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import type { Verdict } from "./booking-model.js";
import type { AppointmentModel, ClinicModel, Time } from "./clinic-model.js";
import type { Verdicts } from "./series-model.js";
import type { World } from "./world.js";

/** A command that acts on the service and on the model, and compares the results. */
export type Step = fc.AsyncCommand<ClinicModel, World>;

/** The action of a command. A command whose `isPossible` returns false is skipped. */
export interface StepDefinition<Parameters> {
  readonly isPossible?: (clinic: ClinicModel, parameters: Parameters) => boolean;
  readonly run: (clinic: ClinicModel, world: World, parameters: Parameters) => Promise<void>;
}

/** Builds the arbitrary of a command, whose parameters fast-check generates, shrinks and prints. */
export function steps<Parameters extends object>(
  name: string,
  parameters: { [Key in keyof Parameters]: fc.Arbitrary<Parameters[Key]> },
  { isPossible = () => true, run }: StepDefinition<Parameters>,
): fc.Arbitrary<Step> {
  return fc.record(parameters).map((chosen) => ({
    check: (clinic) => isPossible(clinic, chosen),
    run: (clinic, world) => run(clinic, world, chosen),
    toString: () => `${name} ${JSON.stringify(chosen)}`,
  }));
}

/** Returns an item of a non-empty list, for any natural number. */
export function nth<T>(items: readonly T[], number: number): T {
  const item = items[number % items.length];
  if (item === undefined) throw new Error("there is nothing to choose from");
  return item;
}

/** Requires an answer to match the verdict, and records the id of a new appointment. */
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

/** Requires an answer to have exactly these appointments, in this order, or the refusal. */
export function expectVerdicts(clinic: ClinicModel, world: World, answer: RestAnswer, verdicts: Verdicts): void {
  if ("refused" in verdicts) return expectVerdict(clinic, world, answer, verdicts);
  expect({ status: answer.status, errors: itemsOf(answer) }).toEqual({ status: 200, errors: [] });
  const shown = (answer.body["appointments"] ?? []) as JsonObject[];
  expect(shown).toHaveLength(verdicts.length);
  for (const [index, verdict] of verdicts.entries()) {
    expectVerdict(clinic, world, { ...answer, body: { appointment: shown[index] ?? {} } }, verdict);
  }
}

/**
 * Returns an appointment as the service shows it, with the members that the model knows. Times are in milliseconds
 * since the epoch.
 */
export function appointmentShown(clinic: ClinicModel, world: World, appointment: AppointmentModel): object {
  const { id, patient, status, version, overbooked, series } = appointment;
  return {
    appointmentId: world.appointmentIds[id],
    patientId: world.patientIds[patient],
    status,
    version,
    overbooked,
    ...(series !== undefined && { seriesId: world.seriesIds[series] }),
    displaced: clinic.slots.some((slot) => slot.appointment === appointment && slot.retained),
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

/** Parses the times of an answer to milliseconds since the epoch. */
export function readTimes<Shown extends { readonly startsAt: string; readonly endsAt: string }>(shown: Shown) {
  return { ...shown, startsAt: Date.parse(shown.startsAt), endsAt: Date.parse(shown.endsAt) };
}
