import { InvalidArgumentError } from "commander";
import { isUuid } from "../uuid.js";

/** Parses a UUID argument and returns it in lower case. Throws an InvalidArgumentError for any other text. */
export function uuid(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError("It must be a UUID.");
  return text.toLowerCase();
}

/** Parses a number of seconds, 1 to 999,999,999. Throws an InvalidArgumentError for any other text. */
export function seconds(text: string): number {
  return whole(text, "number of seconds");
}

/** Parses a count, 1 to 999,999,999. Throws an InvalidArgumentError for any other text. */
export function count(text: string): number {
  return whole(text, "number");
}

/** Parses a number of workers, 1 to 999,999,999, or "auto". Throws an InvalidArgumentError for any other text. */
export function workers(text: string): number | "auto" {
  return text === "auto" ? text : whole(text, "number, or auto");
}

function whole(text: string, what: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`It must be a whole ${what} from 1 to 999999999.`);
}
