/** The raw path and query of a request target. */
export interface RequestTarget {
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
}

const absoluteForm = /^https?:\/\/[^/?#]*/i;

/**
 * Splits a request target (RFC 9112 section 3.2) in origin-form or absolute-form. The authority of an absolute-form is
 * dropped. Other forms yield a path that does not start with a slash, so they match no route.
 */
export function splitTarget(target: string): RequestTarget {
  const local = target.startsWith("/") ? target : target.replace(absoluteForm, "");
  const mark = local.indexOf("?");
  return mark < 0 ? { path: local, query: "" } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
}
