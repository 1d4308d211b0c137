/** Returns a function that computes a value at its first call, and returns the same value at each later call. */
export function lazily<T>(compute: () => T): () => T {
  let computed: { readonly value: T } | undefined;
  return () => {
    computed ??= { value: compute() };
    return computed.value;
  };
}
