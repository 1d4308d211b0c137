import type { DescMethod } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";

/**
 * Interceptors for all methods, or a function that returns the interceptors of a method. The function runs at the
 * first request for each route. If the function throws, this request fails, and the next request runs it again.
 * The first interceptor is outermost.
 */
export type Interceptors = readonly Interceptor[] | ((method: DescMethod) => readonly Interceptor[]);

/** Returns the interceptors of a method. Calls `interceptors` if it is a function. */
export function interceptorsOf(method: DescMethod, interceptors: Interceptors = []): readonly Interceptor[] {
  return typeof interceptors === "function" ? interceptors(method) : interceptors;
}
