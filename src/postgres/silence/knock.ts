import { connect, type TcpNetConnectOpts } from "node:net";

/** Where a server listens. */
export type TcpAddress = Pick<TcpNetConnectOpts, "host" | "port">;

/** SSLRequest of PostgreSQL's protocol, which servers and poolers answer by a byte before they know who asks. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
/** What a network says that cannot reach the server. */
const UNREACHED = new Set([
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EHOSTDOWN",
  "ENETDOWN",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

/**
 * Whether anything is heard from a server in so many milliseconds: an answer, or that it takes no connections, which is heard from
 * those too that are open. It takes no connection of the database and no password, and leaves no line in the server's log.
 */
export function knock(address: TcpAddress, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "localhost", ...address });
    const end = (isHeard: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(isHeard);
    };
    const timer = setTimeout(() => setImmediate(end, false), withinMs);
    socket.once("connect", () => socket.write(SSL_REQUEST));
    socket.once("data", () => end(true));
    socket.once("close", () => end(true));
    socket.on("error", (error: NodeJS.ErrnoException) => end(!UNREACHED.has(error.code ?? "")));
  });
}
