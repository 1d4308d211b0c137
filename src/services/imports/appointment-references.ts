import type { FieldError } from "../../errors.js";
import type { ImportedAppointmentValid } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import {
  appointmentTypes,
  cancellationReasons,
  consultationTypes,
  noShowReasons,
  payers,
  requestSources,
} from "../../postgres/tables/catalogs/catalogs.js";
import { healthcareServices, locations, practitioners } from "../../postgres/tables/catalogs/reference-data.js";
import { findMembers, sharePrograms } from "../../postgres/tables/imports/import-appointments.js";
import { lockPatients } from "../../postgres/tables/imports/import-patients.js";
import { findResources, type ResourceTable } from "../../postgres/tables/resources/resources.js";
import { programs } from "../../postgres/tables/schedule/programs.js";
import type { ImportedTime } from "./appointment-times.js";
import type { BatchRow, ImportBatch } from "./import-batch.js";

/** An appointment to import. An id is undefined if the row names the resource by a `sourceId` that was not imported. */
export interface AppointmentDraft {
  readonly row: BatchRow;
  readonly value: ImportedAppointmentValid;
  readonly time: ImportedTime;
  /** The errors in the time, status, reason and dates of the row. */
  readonly errors: readonly FieldError[];
  readonly patientId: string | undefined;
  readonly practitionerId: string | undefined;
  readonly serviceId: string | undefined;
  /** Undefined if the row has no location, or names it by a `sourceId` that was not imported. */
  readonly locationId: string | undefined;
  /** Undefined if the row has no payer, or names it by a `sourceId` that was not imported. */
  readonly payerId: string | undefined;
  readonly programId: string;
}

type IdOf = (draft: AppointmentDraft) => string | undefined;

/** The resources to which appointments to import ({@link AppointmentDraft}) refer, by id. */
export type AppointmentReferences = Awaited<ReturnType<typeof readAppointmentReferences>>;

/** Reads the resources to which `drafts` refer. Locks the programs first, then the patients. */
export async function readAppointmentReferences(batch: ImportBatch, drafts: readonly AppointmentDraft[]) {
  const { transaction, principal } = batch.call;
  const idsBy = (idOf: IdOf) => distinct(drafts.map(idOf));
  const find = <A extends object>(table: ResourceTable<A>, idOf: IdOf) =>
    findResources(transaction, principal, table, idsBy(idOf));
  const programIds = idsBy(({ programId }) => programId);
  const patientIds = idsBy(({ patientId }) => patientId);
  sharePrograms(transaction, programIds);
  const [patients, program, offered, members, practitioner, service, ...found] = await Promise.all([
    lockPatients(transaction, patientIds),
    find(programs, ({ programId }) => programId),
    findMembers(transaction, "program_services", programIds),
    findMembers(transaction, "program_practitioners", programIds),
    find(practitioners, ({ practitionerId }) => practitionerId),
    find(healthcareServices, ({ serviceId }) => serviceId),
    find(appointmentTypes, ({ value }) => value.appointmentTypeId),
    find(requestSources, ({ value }) => value.requestSourceId),
    find(consultationTypes, ({ value }) => value.consultationTypeId),
    find(cancellationReasons, ({ value }) => value.cancellationReasonId),
    find(noShowReasons, ({ value }) => value.noShowReasonId),
    find(payers, ({ payerId }) => payerId),
  ]);
  const locationIds = distinct([...program.values(), ...drafts].map(({ locationId }) => locationId));
  const [types, sources, consultations, cancellations, noShows, payersFound] = found;
  return {
    patients,
    programs: program,
    practitioners: practitioner,
    services: service,
    locations: await findResources(transaction, principal, locations, locationIds),
    types,
    sources,
    consultations,
    cancellationReasons: cancellations,
    noShowReasons: noShows,
    payers: payersFound,
    offered: new Set(offered.map(pairOf)),
    members: new Set(members.map(pairOf)),
  };
}

/**
 * Returns the ids of a program and its member (a service or a practitioner) as one text. The sets `offered` and
 * `members` of {@link AppointmentReferences} contain such texts.
 */
export function pairOf({ programId, memberId }: { readonly programId: string; readonly memberId: string }): string {
  return `${programId} ${memberId}`;
}

function distinct(ids: readonly (string | undefined)[]): string[] {
  return [...new Set(ids.flatMap((id) => id ?? []))];
}
