/** The raw path and query of a request target. */
export interface RequestTarget {
  readonly path: string;
  /** The query without the question mark; "" if there is none. */
  readonly query: string;
}

const absoluteForm = /^https?:\/\/[^/?#]*/i;

/**
 * Splits a request target (RFC 9112 section 3.2) in origin-form or absolute-form into path and query. Drops the
 * authority of an absolute-form. The path of any other form does not start with a slash, so it matches no route.
 */
export function splitTarget(target: string): RequestTarget {
  const local = target.startsWith("/") ? target : target.replace(absoluteForm, "");
  const mark = local.indexOf("?");
  return mark < 0 ? { path: local, query: "" } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
}
