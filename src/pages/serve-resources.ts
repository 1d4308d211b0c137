import { CupoError } from "../errors.js";
import type { HttpRequest, HttpResponse } from "../request-log.js";

/** A page or another resource with its own path, separate from the operations. */
export interface Resource {
  /** The allowed HTTP methods. */
  readonly methods: readonly string[];
  /** Answers a request. If the request cannot be answered, rejects before it sends anything. */
  answer(request: HttpRequest, response: HttpResponse): Promise<void>;
}

/** Resources with their paths. */
export type Resources = Iterable<readonly [path: string, resource: Resource]>;

/** Answers a request with an error. */
export type Refuse = (request: HttpRequest, response: HttpResponse, error: CupoError) => void;

/**
 * Returns a function that answers requests for these resources. It returns false if no resource has the path of the
 * request, otherwise true. It ignores the query. It calls `refuse` for a method that the resource does not allow (405)
 * and for an error of the resource.
 */
export function serveResources(
  resources: Resources,
  refuse: Refuse,
): (request: HttpRequest, response: HttpResponse) => boolean {
  const byPath = new Map(resources);
  return (request, response) => {
    const resource = byPath.get(request.url?.replace(/\?.*/s, "") ?? "");
    if (resource === undefined) return false;
    answerBy(resource, request, response).catch((error: unknown) => {
      const thrown = error instanceof CupoError ? error : new CupoError("INTERNAL_ERROR", { cause: error });
      refuse(request, response, thrown);
    });
    return true;
  };
}

async function answerBy(resource: Resource, request: HttpRequest, response: HttpResponse): Promise<void> {
  const { methods } = resource;
  if (!methods.includes(request.method ?? ""))
    throw new CupoError("METHOD_NOT_ALLOWED", { headers: { Allow: methods.join(", ") } });
  await resource.answer(request, response);
}
