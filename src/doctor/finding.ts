/** The subject of a check. */
export type Check =
  | "configuration"
  | "tls"
  | "issuer"
  | "database"
  | "version"
  | "clock"
  | "migrations"
  | "schema"
  | "role"
  | "owner"
  | "row security"
  | "partitions"
  | "citus"
  | "pooler"
  | "connections"
  | "replica"
  | "jobs"
  | "disk";

/** A result of a check. One check can have several results. */
export interface Finding {
  readonly check: Check;
  readonly level: "ok" | "warning" | "failure";
  /** The observation in one line, without secrets and personal data. */
  readonly says: string;
  /** The action to take; undefined if none is needed. */
  readonly advice?: string;
}

/** Returns a finding without a problem. */
export function ok(check: Check, says: string): Finding {
  return { check, level: "ok", says };
}

/** Returns a finding that the operator should know about, although the service works. */
export function warning(check: Check, says: string, advice: string): Finding {
  return { check, level: "warning", says, advice };
}

/** Returns a finding for a problem that keeps the service from starting, working or protecting its data. */
export function failure(check: Check, says: string, advice: string): Finding {
  return { check, level: "failure", says, advice };
}
