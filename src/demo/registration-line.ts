import { randomInt, randomUUID } from "node:crypto";

/**
 * Returns a curl command that registers a new patient, who gave consent at `now`. `token` is an access token or a shell
 * command that prints one: `$(…)`.
 */
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
    `-H "Authorization: Bearer ${token}"`,
    "-H 'Content-Type: application/json'",
    `-H 'Idempotency-Key: ${randomUUID()}'`,
    `-d '${JSON.stringify(body)}'`,
  ].join(" ");
}
