/** A parameter of a statement: text, bytes in binary form, or NULL. */
export type EncodedParameter = string | Buffer | null;

const INITIAL_BYTES = 16 * 1024;
/** A buffer that grew above this size is not reused for the next batch. */
const MAX_KEPT_BYTES = 256 * 1024;
/** Up to this many characters, a loop writes ASCII faster than `Buffer.write` does. */
const MAX_SHORT = 48;
const MAX_ASCII = 0x7f;
const MAX_BYTES_PER_UNIT = 3;
const NULL_LENGTH = -1;
const DESCRIBE_PORTAL = message("D", [0x50, 0]);
const EXECUTE_ALL = message("E", [0, 0, 0, 0, 0]);
const SYNC = message("S", []);
const PARSE = "P".charCodeAt(0);
const BIND = "B".charCodeAt(0);

/**
 * Encodes the messages of PostgreSQL's protocol into one buffer, so that a batch is sent in one write. pg encodes each
 * message into a buffer of its own. Source: PostgreSQL's manual, "Message Formats".
 */
export class MessageWriter {
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES);
  #length = 0;

  /**
   * Writes Parse, which prepares a statement; `name` is empty for an unnamed statement. The server chooses the types of
   * the parameters.
   */
  parse(name: string, text: string): void {
    const begun = this.#begin(PARSE);
    this.#writeCString(name);
    this.#writeCString(text);
    this.#writeInt16(0);
    this.#end(begun);
  }

  /** Writes Bind, which binds parameters to a prepared statement. Asks for all results as text. */
  bind(name: string, parameters: readonly EncodedParameter[]): void {
    const begun = this.#begin(BIND);
    this.#writeCString("");
    this.#writeCString(name);
    this.#writeInt16(parameters.length);
    for (const parameter of parameters) this.#writeInt16(typeof parameter === "object" && parameter !== null ? 1 : 0);
    this.#writeInt16(parameters.length);
    for (const parameter of parameters) this.#writeParameter(parameter);
    this.#writeInt16(0);
    this.#end(begun);
  }

  /** Writes Describe, which asks for the columns of the bound statement. */
  describe(): void {
    this.#writeBytes(DESCRIBE_PORTAL);
  }

  /** Writes Execute, which runs the bound statement and asks for all its rows. */
  execute(): void {
    this.#writeBytes(EXECUTE_ALL);
  }

  /** Writes Sync, which ends the batch. */
  sync(): void {
    this.#writeBytes(SYNC);
  }

  /** Returns a copy of the messages and removes them from the writer. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    if (this.#bytes.length > MAX_KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(INITIAL_BYTES);
    return taken;
  }

  /**
   * Writes the code of a message and reserves four bytes for its length. Returns the position of the length. The length
   * includes its own four bytes, but not the code.
   */
  #begin(code: number): number {
    this.#reserve(5);
    this.#bytes[this.#length] = code;
    this.#length += 5;
    return this.#length - 4;
  }

  #end(begun: number): void {
    this.#bytes.writeInt32BE(this.#length - begun, begun);
  }

  #writeParameter(parameter: EncodedParameter): void {
    if (typeof parameter === "string") this.#writeSizedText(parameter);
    else {
      this.#writeInt32(parameter === null ? NULL_LENGTH : parameter.length);
      if (parameter !== null) this.#writeBytes(parameter);
    }
  }

  #writeSizedText(text: string): void {
    const begun = this.#length;
    this.#writeInt32(0);
    this.#writeText(text);
    this.#bytes.writeInt32BE(this.#length - begun - 4, begun);
  }

  #writeCString(text: string): void {
    this.#writeText(text);
    this.#reserve(1);
    this.#bytes[this.#length++] = 0;
  }

  #writeText(text: string): void {
    this.#reserve(text.length * MAX_BYTES_PER_UNIT);
    if (text.length > MAX_SHORT || !this.#writeAscii(text)) this.#length += this.#bytes.write(text, this.#length);
  }

  /** Writes a text of ASCII characters and returns true. For other texts, writes nothing and returns false. */
  #writeAscii(text: string): boolean {
    const bytes = this.#bytes;
    const begun = this.#length;
    for (let i = 0; i < text.length; i += 1) {
      const unit = text.charCodeAt(i);
      if (unit > MAX_ASCII) return false;
      bytes[begun + i] = unit;
    }
    this.#length = begun + text.length;
    return true;
  }

  #writeBytes(written: Uint8Array): void {
    this.#reserve(written.length);
    this.#bytes.set(written, this.#length);
    this.#length += written.length;
  }

  #writeInt32(value: number): void {
    this.#reserve(4);
    this.#length = this.#bytes.writeInt32BE(value, this.#length);
  }

  #writeInt16(value: number): void {
    this.#reserve(2);
    this.#length = this.#bytes.writeUInt16BE(value, this.#length);
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

function message(code: string, body: readonly number[]): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.from([code.charCodeAt(0), ...length, ...body]);
}
