import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import * as fixtures from "../contract/fixtures.js";
import type { TestService } from "../support/service.js";
import { book, type Clinic, type ClinicChanges, call, openClinic, optionsFor } from "./clinic.js";

/** Number of patients that book at once. There is a slot for each. */
export const PATIENTS = 20;

/** A clinic with a slot for each patient, and the patients. */
export interface Rush {
  readonly clinic: Clinic;
  readonly patientIds: readonly string[];
}

/** Opens a clinic of its own tenant, whose slots all belong to one day. */
export async function openRush(service: TestService, practitioners: number, rule: JsonObject): Promise<Rush> {
  const as = { tenantId: randomUUID() };
  const ids = (count: number, make: () => Promise<string>) => Promise.all(Array.from({ length: count }, make));
  const changes: ClinicChanges = {
    as,
    rule: { dailyCapacity: PATIENTS, ...rule },
    practitionerIds: await ids(practitioners, () => fixtures.practitioner.create(service, as)),
  };
  const clinic = await openClinic(service, changes);
  return { clinic, patientIds: await ids(PATIENTS, () => fixtures.createPatient(service, {}, as)) };
}

/** A patient's way to an appointment: returns whether the attempt succeeded, with its errors if it failed. */
export type Attempt = (clinic: Clinic, patientId: string) => Promise<boolean>;

/** All patients try at the same moment, each until it has an appointment. Returns the number of attempts of each. */
export async function rush({ clinic, patientIds }: Rush, attempt: Attempt): Promise<readonly number[]> {
  return Promise.all(patientIds.map((patientId) => attemptsOf(clinic, patientId, attempt)));
}

async function attemptsOf(clinic: Clinic, patientId: string, attempt: Attempt): Promise<number> {
  for (let attempts = 1; attempts <= PATIENTS; attempts += 1) if (await attempt(clinic, patientId)) return attempts;
  throw new Error("a patient found no appointment");
}

/** Takes the first option of a search. */
export async function bookFirstOption(clinic: Clinic, patientId: string): Promise<boolean> {
  const [option] = await optionsFor(clinic, { patientId });
  const { status } = await book(clinic, patientId, `${option?.optionToken}`);
  return status === 200;
}

/** Holds one of the options of a page, and books the hold. */
export async function holdAndBook(clinic: Clinic, patientId: string): Promise<boolean> {
  const [optionToken = "", ...alternatives] = (await optionsFor(clinic, { patientId })).map((one) => one.optionToken);
  const request = { optionToken, alternativeOptionTokens: alternatives.slice(0, 20) };
  const { body, status } = await call(clinic, "HoldAppointmentOption", request);
  if (status !== 200) return false;
  const { optionToken: held } = body["hold"] as { readonly optionToken: string };
  return (await book(clinic, patientId, held)).status === 200;
}
