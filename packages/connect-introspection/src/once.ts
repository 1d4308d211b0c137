/**
 * Returns a function that calls `make` at its first call, and returns the result of `make` at this and every later
 * call. If `make` throws, the next call of the function calls `make` again.
 */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
