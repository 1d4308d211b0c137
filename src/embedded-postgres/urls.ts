import type { Passwords } from "./cluster.js";

/** Where an embedded server is reached. */
export interface EmbeddedUrls {
  /** Database `cupo` as the service, a role that owns nothing and that row-level security binds. */
  readonly url: string;
  /** Database `cupo` as its owner; as the service where a release without an owner shares the server. */
  readonly ownerUrl: string;
  /** Maintenance database `postgres` as the superuser. */
  readonly superuserUrl: string;
}

/** The postgres:// URLs of a server at a port of this machine. */
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
