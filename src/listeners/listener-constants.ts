/** The size limits of a request message on both listeners. */
export const messageLimits = {
  /** The maximum number of bytes of a request body, both as sent and after decompression. */
  maxBodyBytes: 64 * 1024,
  /** The maximum number of nested levels of objects and arrays in JSON. */
  maxDepth: 16,
} as const;

/**
 * Headers of every answer of an operation. An answer can hold personal data, so it must not be cached. Browsers must
 * not guess its media type.
 */
export const responseHeaders = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" } as const;
