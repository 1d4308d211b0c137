/** The reasons to reject an access token: it is missing or has a fault. The set is finite, for metrics. */
export const tokenFaults = [
  "MISSING",
  "MALFORMED",
  "TYPE",
  "ALGORITHM",
  "UNKNOWN_KEY",
  "SIGNATURE",
  "ISSUER",
  "AUDIENCE",
  "EXPIRED",
  "NOT_YET_VALID",
  "CLAIM",
] as const;

/** One of {@link tokenFaults}. `CLAIM`: a claim is missing or malformed. */
export type TokenFault = (typeof tokenFaults)[number];
