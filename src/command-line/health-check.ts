import { request as requestPlainly } from "node:http";
import { request as requestByTls } from "node:https";
import { readConfig } from "../settings/config.js";

/**
 * What a container asks itself: ends with 0 where the internal listener of this machine says that the process runs, and with 1
 * otherwise. Not whether it is ready: without its database a process is not, and to restart it would not help. The certificate,
 * which is for names from outside, is not judged on the way to oneself.
 */
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
