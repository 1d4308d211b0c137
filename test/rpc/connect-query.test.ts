import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { ConnectError } from "@connectrpc/connect";
import { RestError } from "@cupo/connect-rest";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { connectQuery, isJsonQuery, readQueryMessage } from "../../src/rpc/connect-query.js";

const maxBytes = 1_000;
const message = fc.uint8Array({ maxLength: maxBytes });

test("a message in base64url, with or without padding, is read as its bytes", async () => {
  await fc.assert(
    fc.asyncProperty(message, fc.boolean(), async (bytes, isPadded) => {
      const text = Buffer.from(bytes).toString("base64url");
      const padding = isPadded ? "=".repeat((4 - (text.length % 4)) % 4) : "";
      const query = `?connect=v1&base64=1&encoding=proto&message=${text}${encodeURIComponent(padding)}`;
      expect(await read(query)).toEqual(Buffer.from(bytes));
    }),
  );
});

test("a percent-encoded message is read as its bytes, whatever they are", async () => {
  await fc.assert(
    fc.asyncProperty(message, async (bytes) => {
      const escaped = Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
      expect(await read(`?encoding=proto&message=${escaped}`)).toEqual(Buffer.from(bytes));
    }),
  );
});

test.each(["connect=v1", "encoding=json", "base64=1", "message=", "compression=gzip"])(
  "a repeated parameter is refused: %s",
  async (pair) => {
    await expect(read(`?encoding=json&connect=v1&message=&${pair}&${pair}`)).rejects.toThrow(RestError);
  },
);

test("any other query is read or refused with an error for its caller", async () => {
  const part = fc.constantFrom(
    "connect",
    "v1",
    "base64",
    "1",
    "message",
    "compression",
    "gzip",
    "=",
    "&",
    "?",
    "%",
    "+",
  );
  const query = fc.array(fc.oneof(part, fc.string({ unit: "binary", maxLength: 4 })), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(query, async (parts) => {
      const outcome = await read(`?${parts.join("")}`).catch((error: unknown) => error);
      expect([Buffer, RestError, ConnectError].some((kind) => outcome instanceof kind)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ["?encoding=json", true],
  ["?encoding=proto", false],
  ["?encoding=JSON", undefined],
  ["?encoding", undefined],
  ["", undefined],
])("the query %s says whether the message is JSON: %s", (query, expected) => {
  expect(isJsonQuery(connectQuery(`/path${query}`))).toBe(expected);
});

function read(query: string): Promise<Buffer> {
  const request = new IncomingMessage(new Socket());
  request.push(null);
  return readQueryMessage(connectQuery(`/path${query}`), request, maxBytes);
}
