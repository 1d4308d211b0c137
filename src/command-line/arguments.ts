import { InvalidArgumentError } from "commander";
import { isUuid } from "../uuid.js";

/** A UUID of the command line, in lower case; as the others here, refused with what it takes where it is none. */
export function uuid(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError("It takes a UUID.");
  return text.toLowerCase();
}

/** A number of seconds from 1. */
export function seconds(text: string): number {
  return whole(text, "number of seconds");
}

/** How many there are of something, one at least. */
export function count(text: string): number {
  return whole(text, "number");
}

function whole(text: string, what: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`It takes a whole ${what} from 1.`);
}
