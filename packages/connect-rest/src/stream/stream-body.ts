import type { Message } from "@bufbuild/protobuf";

/** Renders the chunks of a body. */
export interface ChunkWriter {
  message(message: Message): Uint8Array;
  /**
   * Returns the last chunk of a stream that failed. Throws if the error cannot be sent. The iteration of the body then
   * rejects.
   */
  error(error: unknown): Uint8Array;
  /** The chunk that follows the last message of a stream without an error. If undefined, no chunk follows. */
  readonly end: Uint8Array | undefined;
}

const done = { done: true, value: undefined } as const;

/**
 * Waits for the first message, and returns the body of a stream: a chunk for each message, and then `write.end` if it
 * is defined.
 * - If the stream fails before its first message, rejects, so that the caller can send an ordinary error response.
 * - If the stream fails later, the last chunk is the result of `write.error`.
 * - `stop` runs when the stream fails, or when the iteration ends before the stream.
 */
export async function openStreamBody(
  messages: AsyncIterator<Message>,
  write: ChunkWriter,
  stop: () => void,
): Promise<AsyncIterable<Uint8Array>> {
  const read = async () => {
    const result = await messages.next();
    return result.done === true ? undefined : write.message(result.value);
  };
  try {
    return chunksOf(await read(), read, write, stop);
  } catch (error) {
    stop();
    throw error;
  }
}

/**
 * Creates the iterator of a body. The iterator is not a generator, because `return` of a generator that has not started
 * would not call `stop`.
 */
function chunksOf(
  first: Uint8Array | undefined,
  read: () => Promise<Uint8Array | undefined>,
  write: ChunkWriter,
  stop: () => void,
): AsyncIterable<Uint8Array> {
  let isEnded = false;
  let readNext = async () => {
    readNext = read;
    return first;
  };
  const last = (chunk: Uint8Array | undefined) => {
    isEnded = true;
    return chunk === undefined ? done : { done: false, value: chunk };
  };
  const iterator: AsyncIterableIterator<Uint8Array> = {
    async next() {
      if (isEnded) return done;
      try {
        const chunk = await readNext();
        return chunk === undefined ? last(write.end) : { done: false, value: chunk };
      } catch (error) {
        stop();
        isEnded = true;
        return last(write.error(error));
      }
    },
    async return() {
      if (!isEnded) stop();
      return last(undefined);
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}
