import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A key server on the loopback address with answers chosen by the test. */
export interface KeyServer {
  readonly url: string;
  /** The number of requests for the key set's path and for other paths. */
  readonly requests: { keySet: number; elsewhere: number };
  /** Answers the next requests. */
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  close(): Promise<void>;
}

/** Starts a key server that answers with this document until `answer` is replaced. */
export async function startKeyServer(document: string): Promise<KeyServer> {
  const requests = { keySet: 0, elsewhere: 0 };
  const server = createServer((request, response) => {
    requests[request.url === "/keys" ? "keySet" : "elsewhere"] += 1;
    keyServer.answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const keyServer: KeyServer = {
    url: `http://127.0.0.1:${port}/keys`,
    requests,
    answer: answerWith(document),
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
  return keyServer;
}

/** Returns an answer with this body that closes its connection. */
export function answerWith(body: string, status = 200): KeyServer["answer"] {
  return (_request, response) => response.writeHead(status, { connection: "close" }).end(body);
}
