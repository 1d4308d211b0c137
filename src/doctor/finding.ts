/** What the doctor looks at. */
export type Check =
  | "configuration"
  | "tls"
  | "issuer"
  | "database"
  | "version"
  | "clock"
  | "migrations"
  | "role"
  | "owner"
  | "row security"
  | "partitions"
  | "pooler"
  | "connections"
  | "replica"
  | "jobs"
  | "disk";

/** What one check found. */
export interface Finding {
  readonly check: Check;
  readonly level: "ok" | "warning" | "failure";
  /** What is so, in one line without secrets and personal data. */
  readonly says: string;
  /** What is to be done about it; undefined where nothing is. */
  readonly advice?: string;
}

/** As it should be. */
export function ok(check: Check, says: string): Finding {
  return { check, level: "ok", says };
}

/** The service works, and whoever runs it should know. */
export function warning(check: Check, says: string, advice: string): Finding {
  return { check, level: "warning", says, advice };
}

/** The service does not start so, does not work so, or does not protect what it should. */
export function failure(check: Check, says: string, advice: string): Finding {
  return { check, level: "failure", says, advice };
}
