import { randomInt, randomUUID } from "node:crypto";

/** What a new document number takes the place of in {@link BODY}; both have 15 digits, as long as the pgbench scripts'. */
export const DOCUMENT_PLACEHOLDER = "000000000000000";

/** The body of every registration that is measured. */
export const BODY = JSON.stringify({
  documentType: "CC",
  documentNumber: DOCUMENT_PLACEHOLDER,
  fullName: "Ana María Pérez Gómez",
  phone: "+57 300 555 0100",
  email: "ana.perez@example.com",
  consentGrantedAt: "2026-01-15T10:00:00-05:00",
});

/** The message of a registration of somebody new. */
export function newPatient() {
  return { ...JSON.parse(BODY), documentNumber: newDocument() };
}

/** Where registrations go below the base URL. */
export const PATH = "/patients";

/** The tenant that everything measured belongs to. */
export const TENANT_ID = "0d3e0000-0000-4000-8000-0000000000be";

/**
 * Registers one new patient and gives its document number. Rejects where the answer is not 201.
 *
 * @param {string} baseUrl
 * @param {string} token
 */
export async function register(baseUrl, token) {
  const document = newDocument();
  const response = await fetch(`${baseUrl}${PATH}`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      "Idempotency-Key": randomUUID(),
    },
    body: BODY.replace(DOCUMENT_PLACEHOLDER, document),
  });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`a registration was answered ${response.status}: ${text}`);
  return document;
}

function newDocument() {
  return String(randomInt(1e14, 3e14));
}
