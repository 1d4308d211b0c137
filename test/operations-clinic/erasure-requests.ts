import type { JsonObject } from "@bufbuild/protobuf";
import type { PatientBody } from "../support/registration.js";

/** A reason for an erasure, without personal data. */
export const REASON = "Radicado 2026-0042, a solicitud de la titular";

/** A case with texts that an erasure must empty. */
export const complaint = { category: "COMPLAINT", externalReference: "REF-9", description: "La espera fue larga." };

/** Builds the request that erases a patient at their current version. */
export function erasureOf({
  id: patientId,
  version: expectedVersion,
}: Pick<PatientBody, "id" | "version">): JsonObject {
  return { patientId, expectedVersion, reason: REASON };
}

/** Builds the request that merges a patient at version 1 into another, without the reason. */
export function mergeOf({ id, version }: Pick<PatientBody, "id" | "version">, duplicatePatientId: string): JsonObject {
  const survivor = { survivorPatientId: id, survivorExpectedVersion: version };
  return { ...survivor, duplicatePatientId, duplicateExpectedVersion: 1 };
}
