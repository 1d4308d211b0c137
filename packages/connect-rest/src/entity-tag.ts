import type { DescMethod, Message } from "@bufbuild/protobuf";
import { headerValues } from "./raw-headers.js";
import type { Rendered } from "./render.js";
import type { Route } from "./routes/routes.js";

/** The response message and the body of a successful answer that has not been sent yet. */
export interface TaggedAnswer {
  readonly message: Message;
  readonly body: Rendered["body"];
}

/**
 * Returns the entity tag of an answer: a quoted text, with the prefix `W/` if the tag is weak (RFC 9110 section 8.8.3).
 */
export type EntityTag = (answer: TaggedAnswer) => string;

export interface EntityTagOptions {
  /**
   * Returns a function that creates the ETags of a unary method's answers to GET, or undefined for no ETags. Defaults
   * to no ETags. Called once for each GET route of a unary method, when the handler is created.
   * - If the body of an answer changes, its ETag must change too.
   * - If the If-None-Match of a GET is `*` or contains the ETag, the answer is 304 without a body. Interceptors and the
   *   implementation also run for such a GET.
   * - A route for every HTTP method ("*") has no ETags.
   */
  entityTag?(method: DescMethod): EntityTag | undefined;
}

const tagForm = /^(?:W\/)?"[\x21\x23-\x7e]*"$/;
const tagsInList = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/**
 * Returns the function that creates the entity tags of a route's answers. Returns undefined if the route is not a GET,
 * or if `options` has no function for its method. The returned function throws if a tag is not a valid entity tag.
 */
export function entityTagOf({ method, httpMethod }: Route, options: EntityTagOptions): EntityTag | undefined {
  if (httpMethod !== "GET") return undefined;
  const tagOf = options.entityTag?.(method);
  if (tagOf === undefined) return undefined;
  return (answer) => {
    const tag = tagOf(answer);
    if (!tagForm.test(tag)) throw new Error(`the entity tag of ${method.name} is not a quoted text`);
    return tag;
  };
}

/**
 * Returns whether the If-None-Match of a request is `*` or contains the tag. Ignores `W/` in the comparison (RFC 9110
 * section 13.1.2).
 */
export function isKnownTag(tag: string, rawHeaders: readonly string[]): boolean {
  const list = headerValues("if-none-match", rawHeaders).join(", ");
  if (list === "") return false;
  return list === "*" || (list.match(tagsInList) ?? []).some((known) => opaqueTag(known) === opaqueTag(tag));
}

function opaqueTag(tag: string): string {
  return tag.replace(/^W\//, "");
}
