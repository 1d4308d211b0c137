/** An envelope of a message that breaks its protocol: unknown flags, or a compression flag without a compression. */
export class EnvelopeError extends Error {
  override readonly name = "EnvelopeError";

  constructor() {
    super("The flags of the message envelope are invalid.");
  }
}
