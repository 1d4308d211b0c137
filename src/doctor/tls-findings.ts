import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Config } from "../settings/config.js";
import { type Finding, failure, ok, warning } from "./finding.js";

const DAY_MS = 86_400_000;
const SOON_DAYS = 14;
const RENEW = "Set TLS_CERT_FILE and TLS_KEY_FILE to a valid certificate and its key, and restart";

/**
 * Checks that certificate and key can be read, belong together and are valid now. Warns if the certificate expires
 * within 14 days. Returns no findings without TLS.
 */
export function examineTls(tls: Config["tls"], nowMs: number): Finding[] {
  if (tls === undefined) return [];
  try {
    const certificate = new X509Certificate(readFileSync(tls.certFile));
    const key = createPrivateKey(readFileSync(tls.keyFile));
    if (!certificate.checkPrivateKey(key))
      return [failure("tls", "TLS_KEY_FILE is not the key of the certificate in TLS_CERT_FILE", RENEW)];
    return [judgeValidity(certificate, nowMs)];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [failure("tls", `TLS_CERT_FILE or TLS_KEY_FILE cannot be read: ${reason}`, RENEW)];
  }
}

function judgeValidity(certificate: X509Certificate, nowMs: number): Finding {
  const until = Date.parse(certificate.validTo);
  const says = `the certificate is valid from ${certificate.validFrom} to ${certificate.validTo}`;
  if (nowMs < Date.parse(certificate.validFrom) || nowMs >= until) return failure("tls", `${says}, but not now`, RENEW);
  return until - nowMs < SOON_DAYS * DAY_MS ? warning("tls", says, RENEW) : ok("tls", says);
}
