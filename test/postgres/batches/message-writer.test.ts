import { expect, test } from "vitest";
import { type EncodedParameter, MessageWriter } from "../../../src/postgres/batches/message-writer.js";

/** The messages of a batch: the letter of each, and its body after the length. */
function messagesIn(bytes: Buffer): [string, Buffer][] {
  const messages: [string, Buffer][] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readInt32BE(at + 1);
    messages.push([bytes.toString("latin1", at, at + 1), bytes.subarray(at + 5, at + 1 + length)]);
    at += 1 + length;
  }
  return messages;
}

/** The parameters of a Bind message for the statement `s`, as the manual's "Message Formats" describes it. */
function parametersIn(body: Buffer): { isBinary: boolean; bytes: Buffer | null }[] {
  expect(body.subarray(0, 3)).toEqual(Buffer.from("\0s\0"));
  const count = body.readUInt16BE(3);
  const formats = Array.from({ length: count }, (_, i) => body.readUInt16BE(5 + 2 * i));
  let at = 5 + 2 * count;
  expect(body.readUInt16BE(at)).toBe(count);
  at += 2;
  const parameters = formats.map((format) => {
    const length = body.readInt32BE(at);
    at += 4;
    const bytes = length < 0 ? null : body.subarray(at, at + length);
    at += Math.max(length, 0);
    return { isBinary: format === 1, bytes };
  });
  expect(body.subarray(at)).toEqual(Buffer.from([0, 0]));
  return parameters;
}

function bound(parameters: readonly EncodedParameter[]) {
  const writer = new MessageWriter();
  writer.bind("s", parameters);
  const [message] = messagesIn(writer.take());
  expect(message?.[0]).toBe("B");
  return parametersIn(message?.[1] ?? Buffer.alloc(0));
}

test("a batch has its messages in order, each with its length", () => {
  const writer = new MessageWriter();
  writer.parse("s", "SELECT $1");
  writer.bind("s", ["x"]);
  writer.describe();
  writer.execute();
  writer.sync();
  const messages = messagesIn(writer.take());
  expect(messages.map(([letter]) => letter)).toEqual(["P", "B", "D", "E", "S"]);
  expect(messages.map(([, body]) => body.toString("latin1"))).toEqual([
    "s\0SELECT $1\0\0\0",
    "\0s\0\0\x01\0\0\0\x01\0\0\0\x01x\0\0",
    "P\0",
    "\0\0\0\0\0",
    "",
  ]);
});

test.each([
  ["nothing", ""],
  ["ASCII", "5f2b1c9e-0d4a-4c0e-8a51-2f4f6c1b7a90"],
  ["accents after ASCII", "Ana María Pérez"],
  ["pairs of surrogates", "𝄞 and 🦜"],
  ["long ASCII", "x".repeat(5_000)],
  ["long accents", "é".repeat(40_000)],
])("text with %s is written as UTF-8", (_, text) => {
  expect(bound([text, "next"])).toEqual([
    { isBinary: false, bytes: Buffer.from(text) },
    { isBinary: false, bytes: Buffer.from("next") },
  ]);
});

test("bytes are binary, and NULL is not the empty text", () => {
  expect(bound([Buffer.from([0, 255]), null, ""])).toEqual([
    { isBinary: true, bytes: Buffer.from([0, 255]) },
    { isBinary: false, bytes: null },
    { isBinary: false, bytes: Buffer.alloc(0) },
  ]);
});

test("messages that were taken do not change with later ones", () => {
  const writer = new MessageWriter();
  writer.bind("s", ["first"]);
  const first = writer.take();
  const copy = Buffer.from(first);
  for (const text of ["second", "z".repeat(300_000), "third"]) {
    writer.bind("s", [text]);
    const [message] = messagesIn(writer.take());
    expect(parametersIn(message?.[1] ?? Buffer.alloc(0))).toEqual([{ isBinary: false, bytes: Buffer.from(text) }]);
  }
  expect(first).toEqual(copy);
});
