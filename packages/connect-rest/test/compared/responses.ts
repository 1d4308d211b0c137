/**
 * Cases of answers: messages and streams as Envoy, grpc-gateway and vanguard-go write them, with books of library.v1.
 */
import type { Difference } from "./difference.js";

/** Streams of books by their titles, and the whole body in each format. */
export const streams: readonly (readonly [titles: readonly string[], ndjson: string, sse: string])[] = [
  [[], "", "event: end\ndata: {}\n\n"],
  [["a"], '{"result":BOOK(a)}\n', "data: BOOK(a)\n\nevent: end\ndata: {}\n\n"],
  [
    ["a", "b", "c"],
    '{"result":BOOK(a)}\n{"result":BOOK(b)}\n{"result":BOOK(c)}\n',
    "data: BOOK(a)\n\ndata: BOOK(b)\n\ndata: BOOK(c)\n\nevent: end\ndata: {}\n\n",
  ],
  [["", "b"], '{"result":BOOK()}\n{"result":BOOK(b)}\n', "data: BOOK()\n\ndata: BOOK(b)\n\nevent: end\ndata: {}\n\n"],
];

/** The JSON of an answer from Kinds to Kinds for a request, and of one field of it. */
export const answers: readonly (readonly [request: string, responseBody: string, answer: string])[] = [
  ['{"addresses":[{"city":"x"},{}]}', "addresses", '[{"city":"x"},{"city":""}]'],
  ["{}", "addresses", "[]"],
  ['{"counts":{"a":1}}', "counts", '{"a":1}'],
  ['{"child":{"id":"x"}}', "child.id", "refused"],
  ['{"optText":"x"}', "opt_text", '"x"'],
  ['{"i64":"5"}', "i64", '"5"'],
  ['{"genre":2}', "genre", '"ESSAY"'],
  ['{"genre":9}', "genre", "9"],
];

/** Cases in which our answer differs. */
export const different: readonly (readonly [about: string, theirs: string, difference: Difference])[] = [
  ["a stream", "Envoy, gapic-showcase: one JSON array", "stream-array"],
  ["fields with a default value", "protobuf, Envoy: left out by default", "emitted-defaults"],
  ["$alt=json;enum-encoding=int", "gapic-showcase: numbers of enumeration values", "enum-encoding"],
  ["the body of an error", "all: google.rpc.Status", "error-document"],
  ["extensions of proto2", "protobuf: members such as [a.b]", "extensions"],
];
