import { randomInt, randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { RestAnswer } from "./rest-request.js";
import type { TestService } from "./service.js";

/** The members of a good registration. */
export interface Registration {
  readonly documentType: string;
  readonly documentNumber: string;
  readonly fullName: string;
  readonly phone: string;
  readonly email: string;
  readonly consentGrantedAt: string;
}

/** A patient as the service gives it. */
export interface PatientBody {
  readonly id: string;
  readonly documentType: string;
  readonly documentNumber?: string;
  readonly fullName: string;
  readonly phone: string;
  readonly email?: string;
  readonly status: string;
  readonly version: number;
}

/** The body of a registration that succeeds; each call another patient. A change to undefined leaves a member out. */
export function registration<C extends object>(changes?: C): Registration & C {
  return {
    documentType: "CC",
    documentNumber: String(randomInt(10_000_000, 200_000_000_000)),
    fullName: "Ana María Pérez",
    phone: "+57 300 555 0100",
    email: "ana@example.com",
    consentGrantedAt: "2026-01-15T10:00:00-05:00",
    ...(changes ?? ({} as C)),
  };
}

/** Registers a patient of the service's tenant as a client of its own, so that nobody's quota or keys are touched. */
export async function registerPatient(service: TestService, changes?: object): Promise<PatientBody> {
  const token = await service.token({ client: randomUUID() });
  return patientOf(await service.request("POST", "/patients", { token, body: registration(changes) }));
}

/** The patient in an answer. Throws where the answer is no success. */
export function patientOf(answer: RestAnswer): PatientBody {
  if (answer.status >= 300)
    throw new Error(`a patient was expected, but the answer is ${answer.status} ${answer.text}`);
  return answer.body as unknown as PatientBody;
}

/** The same patient as the clinic's own operations give them: a matcher, since it does not know the times. */
export function detailsOf({ id, ...patient }: PatientBody, changes: object = {}): Record<string, unknown> {
  const time = expect.stringMatching(/^20\d\d-.*Z$/);
  return { patientId: id, ...patient, createdAt: time, updatedAt: time, ...changes };
}
