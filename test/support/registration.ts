import { randomInt, randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { RestAnswer } from "./rest-request.js";
import type { TestService } from "./service.js";

/** The body of a valid registration. */
export interface Registration {
  readonly documentType: string;
  readonly documentNumber: string;
  readonly fullName: string;
  readonly phone: string;
  readonly email: string;
  readonly consentGrantedAt: string;
}

/** A patient as the service returns it. */
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

/**
 * Returns the body of a registration that succeeds, for a new patient on each call. Undefined in `changes` omits a
 * member.
 */
export function registration<C extends object>(changes?: C): Registration & C {
  const body = {
    documentType: "CC",
    documentNumber: String(randomInt(10_000_000, 200_000_000_000)),
    fullName: "Ana María Pérez",
    phone: "+57 300 555 0100",
    email: "ana@example.com",
    consentGrantedAt: "2026-01-15T10:00:00-05:00",
    ...(changes ?? ({} as C)),
  };
  for (const [name, value] of Object.entries(body)) if (value === undefined) Reflect.deleteProperty(body, name);
  return body;
}

/**
 * Registers a patient of the service's tenant as a new client, so that it uses no quota or idempotency key of another
 * client.
 */
export async function registerPatient(service: TestService, changes?: object): Promise<PatientBody> {
  const token = await service.token({ client: randomUUID() });
  return patientOf(await service.request("POST", "/patients", { token, body: registration(changes) }));
}

/** Returns the patient in an answer. Throws if the answer is not a success. */
export function patientOf(answer: RestAnswer): PatientBody {
  if (answer.status >= 300)
    throw new Error(`a patient was expected, but the answer is ${answer.status} ${answer.text}`);
  return answer.body as unknown as PatientBody;
}

/**
 * Returns a matcher for the same patient as the internal operations return it. It accepts any creation and update time.
 */
export function detailsOf({ id, ...patient }: PatientBody, changes: object = {}): Record<string, unknown> {
  const time = expect.stringMatching(/^20\d\d-.*Z$/);
  return { patientId: id, ...patient, createdAt: time, updatedAt: time, ...changes };
}
