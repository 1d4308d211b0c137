import { randomInt, randomUUID } from "node:crypto";

/** A curl line that registers a new patient; it works as it stands for as long as its token is valid. */
export function registrationLine(baseUrl: string, token: string, now: Date): string {
  const body = {
    documentType: "CC",
    documentNumber: String(randomInt(10_000_000, 1_999_999_999)),
    fullName: "Ana María Pérez",
    phone: "+57 300 555 0100",
    email: "ana.perez@example.com",
    consentGrantedAt: now.toISOString(),
  };
  return [
    `curl -i -X POST ${baseUrl}/patients`,
    `-H 'Authorization: Bearer ${token}'`,
    "-H 'Content-Type: application/json'",
    `-H 'Idempotency-Key: ${randomUUID()}'`,
    `-d '${JSON.stringify(body)}'`,
  ].join(" ");
}
