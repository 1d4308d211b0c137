import type { DescMethod, Message } from "@bufbuild/protobuf";
import { headerValues } from "./raw-headers.js";
import type { Rendered } from "./render.js";
import type { Route } from "./routes/routes.js";

/** A successful answer, before it is sent. */
export interface TaggedAnswer {
  readonly message: Message;
  readonly body: Rendered["body"];
}

/** Returns the entity tag of an answer: a quoted text, after `W/` if it is weak (RFC 9110 section 8.8.3). */
export type EntityTag = (answer: TaggedAnswer) => string;

/** Options of entity tags. */
export interface EntityTagOptions {
  /**
   * Returns the function that creates the ETags of a unary method's answers to GET, or undefined for none. It runs once
   * per route, when the handler is created. A GET whose If-None-Match names the tag is answered with 304 and no body;
   * interceptors and implementation run as for any GET. Everything that can change the body must change the tag.
   * Defaults to none.
   */
  entityTag?(method: DescMethod): EntityTag | undefined;
}

const tagForm = /^(?:W\/)?"[\x21\x23-\x7e]*"$/;
const tagsInList = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/**
 * Returns the function that creates the entity tags of a route's answers. Returns undefined for a route without tags.
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

/** Whether the If-None-Match of a request names a tag, by weak comparison, or is `*` (RFC 9110 section 13.1.2). */
export function isKnownTag(tag: string, rawHeaders: readonly string[]): boolean {
  const list = headerValues("if-none-match", rawHeaders).join(", ");
  if (list === "") return false;
  return list === "*" || (list.match(tagsInList) ?? []).some((known) => opaqueTag(known) === opaqueTag(tag));
}

function opaqueTag(tag: string): string {
  return tag.replace(/^W\//, "");
}
