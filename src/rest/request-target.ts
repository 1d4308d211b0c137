/** The parts of a request target that routes and queries are read from, raw. */
export interface RequestTarget {
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
}

const absoluteForm = /^https?:\/\/[^/?#]*/i;

/**
 * Splits a request target (RFC 9112 section 3.2): origin-form, or absolute-form, of which the authority is dropped. Other
 * forms come back as a path that starts with no slash, and so match no route.
 */
export function splitTarget(target: string): RequestTarget {
  const local = target.startsWith("/") ? target : target.replace(absoluteForm, "");
  const mark = local.indexOf("?");
  return mark < 0 ? { path: local, query: "" } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
}
