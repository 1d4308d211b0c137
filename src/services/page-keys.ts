import { validationFailed } from "../errors.js";
import type { Page } from "./pages.js";
import { parseOpaqueId } from "./preconditions.js";

/** The id that the page before ended with, for lists in the order of ids; 422 where the page token holds something else. */
export function idAfter({ after }: Page): string | undefined {
  if (after === undefined) return undefined;
  const id = after.length === 1 ? parseOpaqueId(after[0] ?? "") : undefined;
  if (id !== undefined) return id;
  const message = "the token is not one that this list gave for these filters";
  throw validationFailed([{ code: "INVALID_VALUE", field: "pageToken", message }]);
}
