import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { BookingService } from "../../src/gen/cupo/clinic/v1/booking_service_pb.js";
import { ImportRow_KindSchema } from "../../src/gen/cupo/clinic/v1/import_row_pb.js";
import { ImportService } from "../../src/gen/cupo/clinic/v1/import_service_pb.js";
import { OperationsService } from "../../src/gen/cupo/clinic/v1/operations_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { type Clinic, type ClinicChanges, openClinic } from "../schedule/clinic.js";
import { callRpc, openCaller } from "../support/rpc.js";
import type { TestService } from "../support/service.js";

const { importResources, getImportReport } = ImportService.method;

/** The outcome of a row, in its JSON form. */
export interface OutcomeBody {
  readonly state: string;
  readonly resourceId?: string;
  readonly errors: readonly { readonly code: string; readonly field: string; readonly message: string }[];
}

/** A clinic that takes over data from another system. */
export interface ImportingClinic extends Clinic {
  readonly sourceSystem: string;
  readonly cancellationReasonId: string;
}

/** Opens a clinic in a tenant of its own. */
export async function openImportingClinic(service: TestService, changes: ClinicChanges = {}): Promise<ImportingClinic> {
  const as = { tenantId: randomUUID() };
  const clinic = await openClinic(service, { ...changes, as });
  const cancellationReasonId = await fixtures.cancellationReason.create(service, as);
  return { ...clinic, cancellationReasonId, sourceSystem: "old system" };
}

/**
 * Imports rows and returns their outcomes. Fails the test if the batch is refused. The rows are not compared with the
 * OpenAPI document, because wrong ones are part of a correct request.
 */
export async function importRows(
  { service, as, sourceSystem }: ImportingClinic,
  rows: readonly JsonObject[],
  changes: JsonObject = {},
): Promise<readonly OutcomeBody[]> {
  const request = { sourceSystem, rows: [...rows], ...changes };
  const { status, body, text } = await openCaller(service, as)(importResources, request);
  if (status !== 200) throw new Error(`the batch was refused: ${text}`);
  return body["outcomes"] as OutcomeBody[];
}

/** Imports the row of one appointment, and returns the appointment as staff see it. Fails the test if it is rejected. */
export async function importAppointment(clinic: ImportingClinic, row: JsonObject): Promise<JsonObject> {
  const [outcome] = await importRows(clinic, [row]);
  expect(outcome).toMatchObject({ state: "CREATED", errors: [] });
  const request = { appointmentId: outcome?.resourceId ?? "" };
  const { body } = await callRpc(clinic.service, BookingService.method.getAppointment, request, { as: clinic.as });
  return body["appointment"] as JsonObject;
}

/** Returns the state of each outcome, with the codes and fields of its errors. */
export function summariesOf(outcomes: readonly OutcomeBody[]): string[] {
  return outcomes.map(({ state, errors }) => [state, ...errors.map(({ code, field }) => `${field} ${code}`)].join(" "));
}

/** Every kind, in the order of the enum. */
const KINDS = ImportRow_KindSchema.values.map(({ localName }) => localName);

/**
 * Returns the counts that the service has of the clinic's other system, by kind. Fails the test if they are not in the
 * order of the enum, or if one comes twice.
 */
export async function countsOf({ service, as, sourceSystem }: ImportingClinic, of = sourceSystem): Promise<JsonObject> {
  const { body } = await callRpc(service, getImportReport, { sourceSystem: of }, { as });
  const { counts } = body["importReport"] as { counts: { kind: string; count: number }[] };
  expect(counts).toEqual(KINDS.flatMap((kind) => counts.filter((each) => each.kind === kind)));
  return Object.fromEntries(counts.map(({ kind, count }) => [kind, count]));
}

let documents = 0;

/** A row of a patient, each time with another document. */
export function patientRow(sourceId: string, changes: JsonObject = {}): JsonObject {
  documents += 1;
  const patient = {
    documentType: "CC",
    documentNumber: `${10_000_000 + documents}`,
    fullName: "Ana María Pérez",
    phone: "+57 300 555 0100",
    consentGrantedAt: "2020-01-15T10:00:00Z",
  };
  return { sourceId, patient: { ...patient, ...changes } };
}

/** A row of a past appointment that was attended. `day` is its local date. */
export function appointmentRow(
  clinic: ImportingClinic,
  sourceId: string,
  changes: JsonObject = {},
  { date = "2024-03-05", time = "09:00" } = {},
): JsonObject {
  const startsAt = new Date(`${date}T${time}:00-05:00`);
  return {
    sourceId,
    appointment: {
      patient: { sourceId: "P1" },
      practitioner: { resourceId: clinic.practitionerIds[0] ?? "" },
      service: { resourceId: clinic.serviceId },
      programId: clinic.programId,
      requestSourceId: clinic.requestSourceId,
      appointmentTypeId: clinic.appointmentTypeId,
      startsAt: startsAt.toISOString(),
      endsAt: new Date(startsAt.getTime() + 30 * 60_000).toISOString(),
      status: "ATTENDED",
      requestedOn: "2024-02-01",
      ...changes,
    },
  };
}

/** Returns the findings and counts of the invariants of the clinic's tenant. */
export async function invariantsOf({ service, as }: ImportingClinic): Promise<JsonObject> {
  const { body } = await callRpc(service, OperationsService.method.verifyInvariants, {}, { as });
  return body["invariantReport"] as JsonObject;
}
