import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** An error of Node's HTTP/1.1 parser, as the event `clientError` has it. */
export interface ParserError extends NodeJS.ErrnoException {
  /** How many bytes of `rawPacket` were understood. */
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
}

const requestLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([\x21-\x7e\x80-\xff]+) HTTP\/1\.([01])$/;
const headerLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\0\r\n]*?)[ \t]*$/;

/**
 * The request that Node's parser refused because it does not know its method, so that it can be answered like any other whose
 * method the path does not have (RFC 9110 section 15.5.6). Its body is taken for empty and its connection has to be closed.
 * Undefined where the packet holds no whole request line after what was understood, or headers that cannot be read. Of a
 * method that came in several packets the name is incomplete; of headers that were sent twice, `headers` has the last.
 */
export function readUnknownMethod(error: ParserError, socket: Socket): IncomingMessage | undefined {
  const { code, rawPacket, bytesParsed = 0 } = error;
  if (code !== "HPE_INVALID_METHOD" || rawPacket === undefined) return undefined;
  const begin = rawPacket.lastIndexOf("\n", bytesParsed) + 1;
  const [first = "", ...lines] = linesOf(rawPacket.toString("latin1", begin));
  const [, method, url, minor] = requestLine.exec(first) ?? [];
  const fields = lines.map((line) => headerLine.exec(line)?.slice(1, 3));
  if (method === undefined || url === undefined || !fields.every((field) => field !== undefined)) return undefined;
  const request = new IncomingMessage(socket);
  request.push(null);
  return Object.assign(request, {
    method,
    url,
    httpVersion: `1.${minor}`,
    httpVersionMajor: 1,
    httpVersionMinor: Number(minor),
    rawHeaders: fields.flat(),
    headers: Object.fromEntries(fields.map(([name = "", value = ""]) => [name.toLowerCase(), value])),
    complete: true,
  });
}

/** A response to such a request, which closes its connection. */
export function responseTo(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => socket.end());
  return response;
}

/** The lines of a message head, as far as they are whole. */
function linesOf(text: string): string[] {
  const [head = ""] = text.split("\r\n\r\n", 1);
  const lines = head.split("\r\n");
  return head.length < text.length ? lines : lines.slice(0, -1);
}
