import { type Check, type Finding, failure, warning } from "./finding.js";

/** The identity of a database; undefined if the role may not read it. */
export type Identity = string | undefined;

const READ_IT = "Run as a superuser for both roles: GRANT EXECUTE ON FUNCTION pg_control_system() TO …";

/**
 * Compares the database of a setting with that of DATABASE_URL. Returns a failure with `advice` if they differ, a
 * warning if an identity is unknown, and undefined if they are the same.
 */
export function judgeIdentity(
  { check, setting, advice }: { readonly check: Check; readonly setting: string; readonly advice: string },
  ofDatabaseUrl: Identity,
  ofSetting: Identity,
): Finding | undefined {
  if (ofDatabaseUrl === undefined || ofSetting === undefined) {
    const says = `${setting} was not checked: a role may not call pg_control_system(), which identifies the database`;
    return warning(check, says, READ_IT);
  }
  if (ofDatabaseUrl === ofSetting) return undefined;
  return failure(check, `${setting} points to another database than DATABASE_URL`, advice);
}
