import { ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { AnswerAccount, UnreadAnswer } from "./unread-answers.js";

/**
 * Bytes that an unread answer costs in addition to its body: objects of Node and of the service. On HTTP/2, the memory
 * of the request's headers is added.
 */
const ANSWER_BYTES = 16 * 1024;
/**
 * Bodies above this size are written in pieces of this size. While the socket's buffer is full, no further piece is
 * written. So the service sees the progress of the transfer, and TLS does not copy the whole body in one step.
 */
const PIECE_BYTES = 64 * 1024;

/** An HTTP/1.1 response. An {@link AnswerAccount} counts it while the client has not read it completely. */
export class WatchedResponse extends ServerResponse implements UnreadAnswer {
  private account: AnswerAccount | undefined;

  /** From now on, counts the answer in `account` while it is unread, until {@link release}. */
  watch(account: AnswerAccount): void {
    this.account = account;
  }

  /** Stops counting the answer. Called when the answer is sent or its connection has closed. */
  release(): void {
    this.account?.release(this);
    this.account = undefined;
  }

  override write(...args: unknown[]): boolean {
    const isTaken: boolean = Reflect.apply(super.write, this, args);
    if (!isTaken) holdUntilDrained(this, this.account, sizeOf(this));
    return isTaken;
  }

  override end(...args: unknown[]): this {
    if (endInPieces(this, args[0])) return this;
    Reflect.apply(super.end, this, args);
    if (this.writableLength > 0 && !this.destroyed) this.account?.hold(this, sizeOf(this));
    return this;
  }

  cut(): void {
    this.req.socket.destroy();
  }
}

/** An HTTP/2 response. An {@link AnswerAccount} counts it while the client has not read it completely. */
export class WatchedHttp2Response<Request extends Http2ServerRequest = Http2ServerRequest>
  extends Http2ServerResponse<Request>
  implements UnreadAnswer
{
  private account: AnswerAccount | undefined;
  private requestBytes = 0;

  /**
   * From now on, counts the answer in `account` while it is unread. The counted size includes `requestBytes`, the
   * memory of the request's headers.
   */
  watch(account: AnswerAccount, requestBytes: number): void {
    this.account = account;
    this.requestBytes = requestBytes;
    this.once("close", () => {
      account.release(this);
      this.account = undefined;
    });
  }

  override write(...args: unknown[]): boolean {
    const isTaken: boolean = Reflect.apply(super.write, this, args);
    if (!isTaken) holdUntilDrained(this, this.account, sizeOf(this) + this.requestBytes);
    return isTaken;
  }

  override end(...args: unknown[]): this {
    if (endInPieces(this, args[0])) return this;
    Reflect.apply(super.end, this, args);
    if (!this.stream.destroyed) this.account?.hold(this, sizeOf(this) + this.requestBytes);
    return this;
  }

  cut(why: "cancelled" | "refused"): void {
    this.stream.close(why === "refused" ? constants.NGHTTP2_REFUSED_STREAM : constants.NGHTTP2_CANCEL);
  }
}

type Watched = WatchedResponse | WatchedHttp2Response;

function holdUntilDrained(answer: Watched, account: AnswerAccount | undefined, bytes: number): void {
  if (!account?.hold(answer, bytes)) return;
  answer.once("drain", () => {
    if (!answer.writableEnded) account.release(answer);
  });
}

/**
 * Returns the memory that an answer takes, in bytes: its body plus {@link ANSWER_BYTES}. If the length of the body is
 * known, the whole body counts, because the unwritten part is in memory too. Otherwise, only the bytes that are written
 * but not yet sent count.
 */
function sizeOf(answer: Watched): number {
  const length = Number(answer.getHeader("content-length") ?? 0);
  return ANSWER_BYTES + Math.max(answer.writableLength, length);
}

/**
 * Sends a body that is longer than one piece, ends the answer and returns true. Sends nothing and returns false for any
 * other body: the caller must then end the answer.
 */
function endInPieces(answer: Watched, body: unknown): boolean {
  if (!(typeof body === "string" || body instanceof Uint8Array) || body.length <= PIECE_BYTES) return false;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  let written = 0;
  writeOn();
  return true;

  function writeOn(): void {
    while (bytes.length - written > PIECE_BYTES) {
      const isTaken = answer.write(bytes.subarray(written, (written += PIECE_BYTES)));
      if (!isTaken) return void answer.once("drain", writeOn);
    }
    answer.end(bytes.subarray(written));
  }
}
