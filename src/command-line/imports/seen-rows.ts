import { hash } from "node:crypto";
import { toBinary } from "@bufbuild/protobuf";
import {
  type ImportedAppointmentValid,
  type ImportReference,
  type ImportRow,
  ImportRowSchema,
} from "../../gen/cupo/clinic/v1/import_row_pb.js";
import { PatientDetails_Status } from "../../gen/cupo/clinic/v1/patient_details_pb.js";
import { documentNumberKey, documentTypeKey } from "../../postgres/tables/patients/document-keys.js";
import { readTime } from "../../services/imports/appointment-times.js";
import { inactive } from "../../services/resources/preconditions.js";
import { SeenAppointments } from "./seen-appointments.js";
import type { RowError, SourceRow } from "./source-rows.js";

/** The members of a row that can refer to another row. Each member is named after the kind of the other row. */
const REFERENCES = new Set(["patient", "practitioner", "service", "location", "payer"]);

/**
 * The rows that a dry run would have imported. A dry run imports nothing, so the service does not know the rows of
 * earlier batches. This class makes the checks that depend on these rows.
 */
export class SeenRows {
  /** The hash of each row, by kind and id. */
  readonly #rows = new Map<string, string>();
  readonly #documents = new Set<string>();
  /** The ids of resources that an earlier import created, by kind and id of the row. */
  readonly #resources = new Map<string, string>();
  /** The inactive resources that the import would create, by kind and id of the row. */
  readonly #inactive = new Set<string>();
  readonly #appointments: SeenAppointments;

  /** `now` returns milliseconds since the epoch. */
  constructor(private readonly now: () => number) {
    this.#appointments = new SeenAppointments((kind, reference) => this.#resourceOf(kind, reference), now);
  }

  /**
   * Adds a row that has no errors. Does nothing if a row of the same kind and id was already added. `resourceId` is the
   * id of the row's resource if an earlier import created one; otherwise undefined.
   */
  add({ row }: SourceRow, resourceId: string | undefined): void {
    const name = nameOf(row.resource.case, row.sourceId);
    if (this.#rows.has(name)) return;
    this.#rows.set(name, contentOf(row));
    const document = documentOf(row);
    if (document !== undefined) this.#documents.add(document);
    if (resourceId !== undefined) this.#resources.set(name, resourceId);
    else if (isInactive(row)) this.#inactive.add(name);
    else if (isAppointment(row)) this.#appointments.add(row.resource.value);
  }

  /**
   * Returns the errors that a row would have if the earlier rows had been imported. `errors` are the errors that the
   * service found.
   * - A row that equals an earlier row has no errors.
   * - Errors for references to earlier rows are removed. Exception: an earlier import created the resource of the
   *   earlier row. The service already knows that resource, so the error means that the caller may not see it.
   * - An error is added if an earlier row has the same kind and id.
   * - An error is added if the row and an earlier row are active patients with the same identity document.
   * - Errors are added for references to inactive resources of earlier rows, if the row needs active ones.
   * - An error is added if the appointment in the row overlaps the appointment of an earlier row, and both have the
   *   same patient or practitioner.
   *
   * The last two are checked only if the row has no other error and was not imported before. No error is added to a
   * field that already has one.
   */
  judge({ row }: SourceRow, errors: readonly RowError[], resourceId: string | undefined): RowError[] {
    const known = this.#rows.get(nameOf(row.resource.case, row.sourceId));
    if (known === contentOf(row)) return [];
    const own = errors.filter((error) => !this.#refersToSeen(row, error));
    const document = documentOf(row);
    const added: RowError[] = [];
    if (known !== undefined) added.push(repeatedId);
    else if (document !== undefined && this.#documents.has(document)) added.push(repeatedDocument);
    else if (own.length === 0 && resourceId === undefined) added.push(...this.#conflictsOf(row));
    return [...added.filter(({ field }) => own.every((error) => error.field !== field)), ...own];
  }

  #conflictsOf(row: ImportRow): readonly RowError[] {
    const unusable = this.#inactiveReferences(row);
    return unusable.length === 0 && isAppointment(row) ? this.#appointments.overlaps(row.resource.value) : unusable;
  }

  /** Returns the errors for references to inactive resources. As in an import, the patient's error comes only alone. */
  #inactiveReferences(row: ImportRow): readonly RowError[] {
    if (isAppointment(row) ? !readTime(row.resource.value, this.now()).isAhead : row.resource.case !== "waitlistEntry")
      return [];
    const names = [...REFERENCES].filter((name) => this.#inactive.has(nameOf(name, referenceOf(row, name))));
    const errors = names.map((name) => {
      const field = `${row.resource.case}.${name}`;
      return { ...inactive(field), field: `${field}.sourceId` };
    });
    if (!isAppointment(row) || !names.includes("patient")) return errors;
    return errors.length > 1 ? errors.slice(1) : [inactivePatient];
  }

  #resourceOf(kind: string, { sourceId, resourceId }: ImportReference): string {
    const name = nameOf(kind, sourceId);
    return resourceId ?? this.#resources.get(name) ?? name;
  }

  #refersToSeen(row: ImportRow, { code, field }: RowError): boolean {
    const [, name = "", target] = field.split(".");
    if (code !== "NOT_FOUND" || target !== "sourceId" || !REFERENCES.has(name)) return false;
    const seen = nameOf(name, referenceOf(row, name));
    return this.#rows.has(seen) && !this.#resources.has(seen);
  }
}

const repeatedId: RowError = {
  code: "SOURCE_CHANGED",
  field: "sourceId",
  message: "an earlier row has this id for the same kind, and is different",
};

const repeatedDocument: RowError = {
  code: "DUPLICATE",
  field: "patient.documentNumber",
  message: "an earlier row of an active patient has this document",
};

const inactivePatient: RowError = {
  code: "PATIENT_NOT_ACTIVE",
  field: "appointment.patient.sourceId",
  message: "the patient is not active",
};

function nameOf(kind: string | undefined, sourceId: string | undefined): string {
  return `${kind ?? ""} ${sourceId ?? ""}`;
}

function contentOf(row: ImportRow): string {
  return hash("sha256", toBinary(ImportRowSchema, row), "base64");
}

type AppointmentRow = ImportRow & {
  readonly resource: { readonly case: "appointment"; readonly value: ImportedAppointmentValid };
};

/** Whether a row is an appointment. Call it only for valid rows. */
function isAppointment(row: ImportRow): row is AppointmentRow {
  return row.resource.case === "appointment";
}

/** Whether the resource of a row would be inactive. */
function isInactive({ resource: { case: kind, value } }: ImportRow): boolean {
  if (kind === "patient") return (value.status ?? PatientDetails_Status.ACTIVE) !== PatientDetails_Status.ACTIVE;
  return value !== undefined && "active" in value && value.active === false;
}

/** Returns the identity document of an active patient, as type and number; undefined for any other row. */
function documentOf({ resource }: ImportRow): string | undefined {
  if (resource.case !== "patient") return undefined;
  const { documentType = "", documentNumber = "", status = PatientDetails_Status.ACTIVE } = resource.value;
  if (status !== PatientDetails_Status.ACTIVE) return undefined;
  return `${documentTypeKey(documentType)} ${documentNumberKey(documentNumber)}`;
}

function referenceOf({ resource }: ImportRow, name: string): string | undefined {
  const reference: unknown = resource.value === undefined ? undefined : Reflect.get(resource.value, name);
  const id: unknown =
    typeof reference === "object" && reference !== null ? Reflect.get(reference, "sourceId") : undefined;
  return typeof id === "string" ? id : undefined;
}
