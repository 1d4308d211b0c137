/** What a request message may be at most, whichever transport brings it. */
export const messageLimits = {
  /** Bytes, as they are sent and, where they are compressed, as they are meant. */
  maxBodyBytes: 64 * 1024,
  /** Levels of objects and arrays in JSON. */
  maxDepth: 16,
} as const;
