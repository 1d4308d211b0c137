import type { Logger } from "pino";
import { describe } from "../request-log.js";
import { ConfigError } from "../settings/config.js";

/**
 * Ends the process with exit code 1. Writes the reason to the log. If there is no log, or if its level is "silent",
 * writes the reason to standard error. With LOG_LEVEL=debug, also writes the stack to standard error, except for a
 * ConfigError.
 */
export function fail(error: unknown, logger?: Logger): never {
  const reason = error instanceof Error ? error.message : String(error);
  const { frames: _, ...cause } = describe(error);
  if (logger?.isLevelEnabled("fatal") === true) logger.fatal({ cause }, reason);
  else process.stderr.write(`${reason}\n`);
  if (!(error instanceof ConfigError) && process.env["LOG_LEVEL"] === "debug") console.error(error);
  process.exit(1);
}
