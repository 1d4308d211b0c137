import type { Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";

/** A protocol, and the version of HTTP that carries it in a test. */
export interface Protocol {
  readonly httpVersion: "1.1" | "2";
  transport(baseUrl: string): Transport;
}

/** The protocols of Connect. */
export const protocols: Readonly<Record<string, Protocol>> = {
  "Connect with JSON, HTTP/1.1": {
    httpVersion: "1.1",
    transport: (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
  },
  "Connect, HTTP/2": {
    httpVersion: "2",
    transport: (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2" }),
  },
  "gRPC, HTTP/2": { httpVersion: "2", transport: (baseUrl) => createGrpcTransport({ baseUrl }) },
  "gRPC-Web, HTTP/1.1": {
    httpVersion: "1.1",
    transport: (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
  },
};
