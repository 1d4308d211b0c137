import { join } from "node:path";

/** The paths of an embedded server. */
export interface EmbeddedFolders {
  /** The data folder of the service, which also contains other files. */
  readonly root: string;
  /** The lock file. A process holds the lock while it creates, starts or stops the server. */
  readonly lock: string;
  /** Prefix of the names of incomplete clusters. A cluster is renamed to `home` when it is complete. */
  readonly incompletePrefix: string;
  readonly home: string;
  /** PostgreSQL's data directory. If the server runs under its own account, only this folder belongs to it. */
  readonly cluster: string;
  readonly log: string;
  /**
   * The file with the settings of the server, written at every start. The cluster's postgresql.conf includes this file.
   */
  readonly settings: string;
  readonly passwords: string;
  /** The folder with one file for each caller that uses the running server. */
  readonly shares: string;
}

/**
 * Returns the paths of an embedded server. `root` is the data folder, and `name` is the name of the server's folder in
 * `root`. The folder of an incomplete cluster has another name.
 */
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
