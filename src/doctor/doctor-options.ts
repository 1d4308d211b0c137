/** Options of {@link examine}, the checks of the command `doctor`. */
export interface DoctorOptions {
  /** The environment variables that the service would read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /**
   * Number of processes that share the database. Defaults to the larger of REPLICAS and the number of connected
   * processes.
   */
  readonly replicas?: number | undefined;
  /** Returns this machine's time in milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns the free bytes of the file system that holds a folder. */
  readonly freeBytes: (folder: string) => Promise<number>;
  /**
   * Returns the addresses of the embedded server of a data folder; undefined if the server is not running. Starts no
   * server.
   */
  readonly findEmbedded: (dataDir: string) => Promise<DatabaseAddresses | undefined>;
}

/** postgres:// URLs of the service's role and of the tables' owner. Without `ownerUrl`, the owner is not checked. */
export interface DatabaseAddresses {
  readonly url: string;
  readonly ownerUrl: string | undefined;
}
