import type { JsonObject } from "@bufbuild/protobuf";
import type { PatientBody } from "../support/registration.js";

/** Why a person is erased, in words that tell of nobody. */
export const REASON = "Radicado 2026-0042, a solicitud de la titular";

/** A case that a person opened, with texts that an erasure has to empty. */
export const complaint = { category: "COMPLAINT", externalReference: "REF-9", description: "La espera fue larga." };

/** The request to erase a patient as the patient is. */
export function erasureOf({ id: patientId, version: expectedVersion }: PatientBody): JsonObject {
  return { patientId, expectedVersion, reason: REASON };
}

/** The request, but for its reason, to merge a patient whom nobody has changed into another. */
export function mergeOf({ id, version }: PatientBody, duplicatePatientId: string): JsonObject {
  const survivor = { survivorPatientId: id, survivorExpectedVersion: version };
  return { ...survivor, duplicatePatientId, duplicateExpectedVersion: 1 };
}
