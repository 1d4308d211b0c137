import type { Transaction } from "../../../call.js";
import { readRecord, readRecords } from "../../columns.js";
import { type Bound, type Parameter, prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { findPatient, knownPatients, type PatientRecord, patientColumns } from "./patients.js";

const selectPatientOfForUpdate = prepared(["tenantId", "appointmentId"], ({ tenantId, appointmentId }) =>
  patientOf({ tenantId }, appointmentId).forNoKeyUpdate(),
);

/**
 * Returns the patient of an appointment without a lock; undefined if the appointment does not exist or the patient was
 * erased.
 */
export async function findPatientOf(
  transaction: Transaction,
  appointmentId: string,
): Promise<PatientRecord | undefined> {
  return readRecord(transaction, patientOf(transaction, appointmentId));
}

/**
 * Returns the patient of an appointment, locked until the transaction ends; undefined if the appointment does not exist
 * or the patient was erased.
 */
export async function lockPatientOf(
  transaction: Transaction,
  appointmentId: string,
): Promise<PatientRecord | undefined> {
  return readRecord(transaction, selectPatientOfForUpdate({ tenantId: transaction.tenantId, appointmentId }));
}

/**
 * Returns the patient and keeps it from being merged or erased until the transaction ends (FOR KEY SHARE). Use this
 * function before adding rows that belong to the patient. The lock does not block bookings for the patient. Returns
 * undefined if the tenant has no such patient or the patient was erased.
 */
export async function holdPatient(transaction: Transaction, id: string): Promise<PatientRecord | undefined> {
  const query = knownPatients({ tenant_id: transaction.tenantId, id }).select(patientColumns);
  return readRecord(transaction, query.forKeyShare());
}

/**
 * Returns the patient of an appointment, and keeps the patient from being merged or erased until the transaction ends
 * (FOR KEY SHARE). Returns undefined if the appointment does not exist or the patient was erased.
 */
export async function holdPatientOf(
  transaction: Transaction,
  appointmentId: string,
): Promise<PatientRecord | undefined> {
  return readRecord(transaction, patientOf(transaction, appointmentId).forKeyShare());
}

/**
 * Returns the patient into which the patient `id` was finally merged, or the patient `id` itself if it was not merged.
 * Keeps the returned patient from being merged or erased until the transaction ends (FOR KEY SHARE). Does not lock
 * merged patients: an erasure locks them and their survivor in the order of ids, so that both could wait for each
 * other. Returns undefined if the tenant has no such patient or the patient was erased.
 */
export async function holdSurvivor(transaction: Transaction, id: string): Promise<PatientRecord | undefined> {
  const query = knownPatients({ tenant_id: transaction.tenantId, id }).whereNull("merged_into").select(patientColumns);
  const survivor = await readRecord<PatientRecord>(transaction, query.forKeyShare());
  if (survivor !== undefined) return survivor;
  const merged = await findPatient(transaction, id);
  return merged?.mergedInto === undefined ? undefined : holdSurvivor(transaction, merged.mergedInto);
}

/**
 * Locks two patients in the order of their ids until the transaction ends. The lock is FOR UPDATE, so it conflicts with
 * the lock of {@link holdPatient} (FOR KEY SHARE). Returns the patients that exist and were not erased, ordered by id.
 */
export async function lockPatientsToMerge(
  transaction: Transaction,
  ids: readonly [string, string],
): Promise<PatientRecord[]> {
  const query = knownPatients({ tenant_id: transaction.tenantId }).whereIn("id", ids).select(patientColumns);
  return readRecords(transaction, query.orderBy("id").forUpdate());
}

/**
 * Locks the patients of these appointments until the transaction ends. Returns the patients, ordered by patient id.
 * Omits erased patients.
 */
export async function lockPatientsOf(
  transaction: Transaction,
  appointmentIds: readonly string[],
): Promise<readonly PatientRecord[]> {
  const { tenantId } = transaction;
  const patients = sql("appointments")
    .where({ tenant_id: tenantId })
    .whereRaw("id = ANY(?::uuid[])", [appointmentIds as string[]])
    .select("patient_id");
  const query = knownPatients({ tenant_id: tenantId }).whereIn("id", patients).orderBy("id").select(patientColumns);
  return readRecords(transaction, query.forNoKeyUpdate());
}

function patientOf({ tenantId }: Bound<"tenantId">, appointmentId: string | Parameter) {
  const patient = sql("appointments").where({ tenant_id: tenantId, id: appointmentId }).select("patient_id");
  return knownPatients({ tenant_id: tenantId }).where("id", patient).select(patientColumns);
}
