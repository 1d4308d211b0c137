import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";

const ITERATIONS = 4_096;

/**
 * Returns the SCRAM-SHA-256 verifier of a password. CREATE ROLE accepts the verifier in place of the password. So the
 * password cannot appear in the server's log. Sources: RFC 5802 section 3, RFC 7677, and PostgreSQL's manual,
 * pg_authid.
 */
export function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password.normalize("NFKC"), salt, ITERATIONS, 32, "sha256");
  const hmac = (text: string) => createHmac("sha256", salted).update(text).digest();
  const storedKey = createHash("sha256").update(hmac("Client Key")).digest("base64");
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString("base64")}$${storedKey}:${hmac("Server Key").toString("base64")}`;
}
