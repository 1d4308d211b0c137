/** What a request message may be at most, whichever listener it comes by. */
export const messageLimits = {
  /** Bytes, as they are sent and, where they are compressed, as they are meant. */
  maxBodyBytes: 64 * 1024,
  /** Levels of objects and arrays in JSON. */
  maxDepth: 16,
} as const;

/** The headers of every answer of an operation: it can hold personal data, and it is what it says it is. */
export const responseHeaders = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" } as const;
