/** Why a request has no principal: the fault of its access token, or that it has none. A finite set, for metrics. */
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
