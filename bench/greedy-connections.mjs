import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

const LIST = "/cupo.clinic.v1.PatientDirectoryService/ListPatients";
const BODY = JSON.stringify({ pageSize: 200 });
const STREAMS = 100;
const PAUSE_MS = 1_000;

/** Ways to be greedy with connections, by name; each opens them for a caller and gives the way to close them again. */
export const connections = {
  "900 idle connections, and nothing else": ({ baseUrl }) => open(900, baseUrl, () => {}),
  "50 connections that ask for much and read nothing": ({ internalUrl, token }) =>
    open(50, internalUrl, (socket) => {
      socket.pause();
      socket.write(requestOf(internalUrl, token).repeat(20));
    }),
  "100 HTTP/2 streams at once, each second": streams,
};

async function open(count, url, use) {
  const { hostname, port } = new URL(url);
  const one = () =>
    new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => resolve(socket));
      socket.on("error", () => resolve(socket));
    });
  const sockets = await Promise.all(Array.from({ length: count }, one));
  for (const socket of sockets) use(socket);
  return () => sockets.forEach((socket) => socket.destroy());
}

function requestOf(url, token) {
  const head = [
    `POST ${LIST} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    `Authorization: Bearer ${token}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(BODY)}`,
  ];
  return `${head.join("\r\n")}\r\n\r\n${BODY}`;
}

async function streams({ internalUrl, token }) {
  const session = connectHttp2(internalUrl);
  session.on("error", () => {});
  const ending = new AbortController();
  const headers = {
    ":method": "POST",
    ":path": LIST,
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
  };
  const one = async () => {
    const stream = session.request(headers);
    stream.on("error", () => {}).resume();
    stream.end(BODY);
    await once(stream, "close");
  };
  const all = (async () => {
    while (!ending.signal.aborted) {
      await Promise.all([...Array.from({ length: STREAMS }, one), delay(PAUSE_MS)]);
    }
  })();
  return async () => {
    ending.abort();
    await all;
    session.close();
  };
}
