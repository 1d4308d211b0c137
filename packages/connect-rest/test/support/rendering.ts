import { createContextValues } from "@connectrpc/connect";
import type { RenderError } from "../../src/errors/render-error.js";

/** Renders an error. Returns status, headers and the body as JSON. */
export function rendered(render: RenderError, error: unknown) {
  const { status, headers, body } = render(error, { values: createContextValues(), route: undefined });
  if (typeof body !== "string") throw new Error("the body is not a text");
  return { status, headers, json: JSON.parse(body) as unknown };
}
