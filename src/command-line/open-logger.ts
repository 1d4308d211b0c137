import type { WriteStream } from "node:tty";
import { type Logger, pino } from "pino";
import type { PrettyOptions } from "pino-pretty";
import type { Config } from "../settings/config.js";
import { isReadByPeople } from "./list-addresses.js";

/**
 * Opens the log of the process on standard output: text if people read the output ({@link isReadByPeople}), otherwise
 * JSON lines. The formatter for text is loaded only when it is needed.
 */
export async function openLogger(
  config: Pick<Config, "logLevel" | "logFormat">,
  output: Pick<WriteStream, "hasColors" | "isTTY">,
): Promise<Logger> {
  const level = config.logLevel;
  if (!isReadByPeople(config, output)) return pino({ level, base: null });
  const { default: pretty } = await import("pino-pretty");
  return pino({ level, base: null }, pretty({ ...forPeople, colorize: output.isTTY && output.hasColors() }));
}

/**
 * The format of text lines. A line begins with the local time and the level. A line about a request continues with its
 * status, operation and duration, and any other line with its message. All other fields follow.
 */
const forPeople: PrettyOptions = {
  sync: true,
  singleLine: true,
  translateTime: "SYS:HH:MM:ss",
  ignore: "operation,status,ms",
  messageFormat: ({ operation = "no operation", status = "left", ms, ...log }, key) =>
    typeof ms === "number" ? `${String(status)} ${String(operation)}, ${ms} ms` : String(log[key]),
};
