/*
 * Health check of a container. It exits with 0 if the internal listener answers /livez with 200 within 2 s, and with 1
 * otherwise. It does not check readiness: a process without its database is not ready, and a restart would not help.
 * The TLS certificate is not verified, because it names external addresses and not this machine.
 */
import { request as requestPlainly } from "node:http";
import { request as requestByTls } from "node:https";
import { readConfig } from "../settings/config.js";

const WITHIN_MS = 2_000;
const { internal, tls } = readConfig(process.env);
const isEverywhere = internal.host === "0.0.0.0" || internal.host === "::";
const address = {
  host: isEverywhere ? "localhost" : internal.host,
  port: internal.port,
  path: "/livez",
  timeout: WITHIN_MS,
  rejectUnauthorized: false,
};
const end = (isLive: boolean) => process.exit(isLive ? 0 : 1);
const request = tls === undefined ? requestPlainly(address) : requestByTls(address);
request.on("response", ({ statusCode }) => end(statusCode === 200));
request.on("timeout", () => end(false));
request.on("error", () => end(false));
request.end();
