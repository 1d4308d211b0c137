import { connect, createServer } from "node:net";

/**
 * A way to a database that can be cut (`cut`: connections are ended and refused) or swallow what it is given (`swallow`: nothing goes
 * on in either direction, nor is anything refused) until it is to `pass` everything again, for connections made from then on.
 *
 * @param {string} databaseUrl
 */
export async function openOutageProxy(databaseUrl) {
  const target = new URL(databaseUrl);
  const sockets = new Set();
  let mode = "pass";
  const server = createServer((client) => {
    const madeIn = mode;
    if (madeIn === "cut") {
      client.destroy();
      return;
    }
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ]) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on("error", () => undefined);
      from.on("data", (data) => mode === "pass" && madeIn === "pass" && to.write(data));
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String(server.address().port);
  const endAll = () => sockets.forEach((socket) => socket.destroy());
  return {
    url: url.href,
    pass: () => (mode = "pass"),
    swallow: () => (mode = "swallow"),
    cut() {
      mode = "cut";
      endAll();
    },
    close() {
      endAll();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
