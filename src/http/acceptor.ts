import type { Server } from "node:net";
import type { ListenLimits } from "./limits.js";

/** A server that finds out what each of its connections speaks and hands it over; not yet bound to an address. */
export interface Acceptor {
  readonly server: Server;
  /** Destroys the connections that have not yet asked for anything. */
  dropUnused(): void;
}

/** Socket options of every listener: small answers leave at once, and peers that vanished are found out. */
export function socketOptions(limits: ListenLimits): {
  noDelay: boolean;
  keepAlive: boolean;
  keepAliveInitialDelay: number;
} {
  return { noDelay: true, keepAlive: true, keepAliveInitialDelay: limits.probeAfterMs };
}
