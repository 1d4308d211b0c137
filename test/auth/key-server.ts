import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A key server on a loopback address whose answers a test chooses. */
export interface KeyServer {
  readonly url: string;
  /** How many requests have arrived at the path of the key set, and elsewhere. */
  readonly requests: { keySet: number; elsewhere: number };
  /** The answer to the next requests. */
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  close(): Promise<void>;
}

/** Starts a key server that answers with this document until the test says otherwise. */
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

/** An answer with this body, and connections that are not kept. */
export function answerWith(body: string, status = 200): KeyServer["answer"] {
  return (_request, response) => response.writeHead(status, { connection: "close" }).end(body);
}
