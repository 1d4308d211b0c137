/** A promise and the function that resolves it, which this version of the platform does not provide yet. */
export interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

/** Makes a promise that is resolved from outside. */
export function deferred(): Deferred {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}
