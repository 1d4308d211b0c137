import { join } from "node:path";

/** Where the files of an embedded server are. */
export interface EmbeddedFolders {
  /** The data folder of the service, which holds other things too. */
  readonly root: string;
  /** Held while a server is created, started or stopped. */
  readonly lock: string;
  /** What the names of half-made clusters start with; each is renamed to `home` once it is complete. */
  readonly incompletePrefix: string;
  readonly home: string;
  /** PostgreSQL's own data directory, the only folder that belongs to the account the server runs as. */
  readonly cluster: string;
  readonly log: string;
  /** The service's server settings, written at every start and included by the cluster's postgresql.conf. */
  readonly settings: string;
  readonly passwords: string;
  /** One file for each user of the running server. */
  readonly shares: string;
}

/** Lays out an embedded server below a data folder; `name` differs for a cluster that is being made. */
export function embeddedFolders(root: string, name = "postgres"): EmbeddedFolders {
  const home = join(root, name);
  return {
    root,
    lock: join(root, "postgres.lock"),
    incompletePrefix: "postgres.incomplete-",
    home,
    cluster: join(home, "cluster"),
    log: join(home, "server.log"),
    settings: join(home, "settings.conf"),
    passwords: join(home, "passwords.json"),
    shares: join(home, "shares"),
  };
}
