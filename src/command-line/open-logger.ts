import type { WriteStream } from "node:tty";
import { type Logger, pino } from "pino";
import type { PrettyOptions } from "pino-pretty";
import type { Config } from "../settings/config.js";

/**
 * The log of the process, on its standard output: lines of JSON, or text for people where the setting says so or that is a
 * terminal. What makes the text is loaded only then.
 */
export async function openLogger(
  { logLevel: level, logFormat }: Pick<Config, "logLevel" | "logFormat">,
  output: Pick<WriteStream, "hasColors" | "isTTY">,
): Promise<Logger> {
  const isText = logFormat === "auto" ? output.isTTY : logFormat === "text";
  if (!isText) return pino({ level, base: null });
  const { default: pretty } = await import("pino-pretty");
  return pino({ level, base: null }, pretty({ ...forPeople, colorize: output.isTTY && output.hasColors() }));
}

/** The time of the machine, what a request came to in words, and whatever else a line has behind them. */
const forPeople: PrettyOptions = {
  sync: true,
  singleLine: true,
  translateTime: "SYS:HH:MM:ss",
  ignore: "operation,status,ms",
  messageFormat: ({ operation = "no operation", status = "left", ms, ...log }, key) =>
    typeof ms === "number" ? `${String(status)} ${String(operation)}, ${ms} ms` : String(log[key]),
};
