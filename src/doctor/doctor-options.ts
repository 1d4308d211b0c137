/** What the doctor is given to look at. */
export interface DoctorOptions {
  /** The environment variables, as the service would read them. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** How many processes share the database; undefined for REPLICAS, or as many as are connected to it now. */
  readonly replicas?: number | undefined;
  /** This machine's clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** The free space, in bytes, of the file system that holds a folder. */
  readonly freeBytes: (folder: string) => Promise<number>;
  /** Where the embedded server of a data folder is reached; undefined where it does not run. Starts nothing. */
  readonly findEmbedded: (dataDir: string) => Promise<DatabaseAddresses | undefined>;
}

/** postgres:// URLs of the service's role and of the tables' owner. */
export interface DatabaseAddresses {
  readonly url: string;
  readonly ownerUrl: string | undefined;
}
