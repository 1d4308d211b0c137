import type { WriteStream } from "node:tty";
import type { Logger } from "pino";
import type { Config } from "../settings/config.js";
import { type Addresses, isReadByPeople, listAddresses } from "./list-addresses.js";

/** Dependencies of the start announcement. */
export interface AnnouncePorts {
  readonly logger: Logger;
  readonly output: Pick<WriteStream, "isTTY" | "write">;
  /**
   * Returns a shell command for a first request. If `isSigned` is true, the command contains a token. Otherwise, it
   * contains a nested command that prints a token.
   */
  readonly firstRequest: (isSigned: boolean) => Promise<string>;
}

/**
 * Announces the addresses of the service: as text if people read the output ({@link isReadByPeople}), otherwise as a
 * log line. With the development issuer, the text also contains a command for a first request, and a second log line
 * says how to print a token. The command contains a signed token only on a terminal, because other output may be
 * stored.
 */
export async function announceStart(
  config: Pick<Config, "issuer" | "logFormat">,
  addresses: Addresses,
  { logger, output, firstRequest }: AnnouncePorts,
): Promise<void> {
  const { publicUrl, internalUrl, basePath } = addresses;
  const isDevelopment = config.issuer === undefined;
  if (!isReadByPeople(config, output)) {
    logger.info({ publicUrl, basePath, internalUrl }, "listening");
    if (isDevelopment) logger.info("development issuer: npm run token prints an access token");
    return;
  }
  output.write(listAddresses(addresses));
  if (!isDevelopment) return;
  output.write(`Try it:\n${await firstRequest(output.isTTY)}\n`);
}

/**
 * Returns a function that writes a line about the progress of the start: plain text if people read the output
 * ({@link isReadByPeople}), otherwise a log line.
 */
export function progressOf(
  config: Pick<Config, "logFormat" | "logLevel">,
  logger: Logger,
  output: AnnouncePorts["output"],
): (line: string) => void {
  if (isReadByPeople(config, output)) return (line) => output.write(`${line}\n`);
  const progress = logger.child({}, { level: config.logLevel });
  return (line) => progress.info(line.trim());
}
