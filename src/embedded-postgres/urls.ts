import type { Passwords } from "./cluster.js";

/** The addresses of an embedded server. */
export interface EmbeddedUrls {
  /** Database `cupo` with the service's role. The role is subject to row-level security. */
  readonly url: string;
  /**
   * Database `cupo` with the role that owns the tables. In a cluster without the role `cupo_owner`, this is the
   * service's role.
   */
  readonly ownerUrl: string;
  /** Maintenance database `postgres` with the superuser. */
  readonly superuserUrl: string;
}

/** Returns the postgres:// URLs of a server on a port of this machine. */
export function urlsOf(port: number, passwords: Passwords): EmbeddedUrls {
  const urlOf = (role: string, password: string, database = "cupo") =>
    `postgres://${role}:${password}@127.0.0.1:${port}/${database}`;
  return {
    url: urlOf("cupo", passwords.cupo),
    ownerUrl:
      passwords.cupo_owner === undefined ? urlOf("cupo", passwords.cupo) : urlOf("cupo_owner", passwords.cupo_owner),
    superuserUrl: urlOf("postgres", passwords.postgres, "postgres"),
  };
}
