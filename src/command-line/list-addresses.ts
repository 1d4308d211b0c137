import { randomBytes } from "node:crypto";
import type { WriteStream } from "node:tty";
import type { Config } from "../settings/config.js";

const KEY_BYTES = 16;

/** The addresses of a running service. */
export interface Addresses {
  readonly publicUrl: string;
  readonly internalUrl: string;
  /** The prefix of the REST paths of the published operations, such as /api/external/v1. */
  readonly basePath: string;
  /** The secret with which the reference pages get demo tokens; undefined if they get none. */
  readonly pageKey: string | undefined;
}

/**
 * Returns the lines that `serve` prints when it listens. The URLs of the reference pages contain `pageKey` in their
 * fragment, because browsers do not send the fragment to servers.
 */
export function listAddresses({ publicUrl, internalUrl, basePath, pageKey }: Addresses): string {
  const page = pageKey === undefined ? "/docs" : `/docs#key=${pageKey}`;
  return `Reference pages in a browser       ${publicUrl}${page} and ${internalUrl}${page}
Public (REST)                      ${publicUrl}${basePath}
Internal (Connect, gRPC, gRPC-Web) ${internalUrl}
`;
}

/**
 * Whether people read the output of the process. Returns true if the log format is text, or if the format is auto and
 * the output is a terminal. Otherwise, the output contains only JSON lines.
 */
export function isReadByPeople(
  { logFormat }: Pick<Config, "logFormat">,
  { isTTY }: Pick<WriteStream, "isTTY">,
): boolean {
  return logFormat === "auto" ? isTTY : logFormat === "text";
}

/**
 * Creates a secret. The reference pages use it to get demo tokens until the process ends. Returns undefined if an
 * issuer is configured, because demo tokens come only from the development issuer. Also returns undefined if the output
 * is not text on a terminal, because other output may be stored.
 */
export function newPageKey(
  config: Pick<Config, "issuer" | "logFormat">,
  output: Pick<WriteStream, "isTTY">,
): string | undefined {
  const isShown = config.issuer === undefined && output.isTTY && isReadByPeople(config, output);
  return isShown ? randomBytes(KEY_BYTES).toString("base64url") : undefined;
}
