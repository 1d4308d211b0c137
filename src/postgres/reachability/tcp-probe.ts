import { connect, type TcpNetConnectOpts } from "node:net";

/** The address at which a server listens. */
export type TcpAddress = Pick<TcpNetConnectOpts, "host" | "port">;

/** SSLRequest of PostgreSQL's protocol: servers and poolers answer it with one byte, without authentication. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
/** Errors that mean that the network does not reach the server. */
const UNREACHABLE_CODES = new Set([
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EHOSTDOWN",
  "ENETDOWN",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

/**
 * Returns whether a server responds within `withinMs` milliseconds. A refused connection counts as a response: the host
 * is reachable. The probe uses no database connection and no password, and the server does not log it.
 */
export function probeServer(address: TcpAddress, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "localhost", ...address });
    const end = (isReachable: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(isReachable);
    };
    const timer = setTimeout(() => setImmediate(end, false), withinMs);
    socket.once("connect", () => socket.write(SSL_REQUEST));
    socket.once("data", () => end(true));
    socket.once("close", () => end(true));
    socket.on("error", (error: NodeJS.ErrnoException) => end(!UNREACHABLE_CODES.has(error.code ?? "")));
  });
}
