import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createServer as createHttp2Server, type Http2Server } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { type ConnectNodeAdapterOptions, connectNodeAdapter } from "@connectrpc/connect-node";
import { onTestFinished } from "vitest";

/** Starts a stock server of Connect for Node.js, until the test ends. Returns its URL. */
export async function startServer(options: ConnectNodeAdapterOptions, httpVersion: "1.1" | "2" = "2"): Promise<string> {
  const handler = connectNodeAdapter(options);
  const server: Server | Http2Server = httpVersion === "2" ? createHttp2Server(handler) : createServer(handler);
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket.on("close", () => sockets.delete(socket))));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
