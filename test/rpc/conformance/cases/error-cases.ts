import type { CodeName, ConformanceCase } from "../conformance-case.js";
import { bytes, field } from "../script-parts.js";

/** The numbers of the codes (gRPC, statuscodes.md). */
const numbers: Readonly<Record<CodeName, number>> = {
  canceled: 1,
  unknown: 2,
  invalid_argument: 3,
  deadline_exceeded: 4,
  not_found: 5,
  already_exists: 6,
  permission_denied: 7,
  resource_exhausted: 8,
  failed_precondition: 9,
  aborted: 10,
  out_of_range: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  data_loss: 15,
  unauthenticated: 16,
};

const texts = ["\nfirst line\r\n\tsecond: niña ☺ 😈, 100 % of %3B\n", "  blanks at both ends ", ""];
const codes = Object.keys(numbers) as CodeName[];

/** Calls whose method throws an error. */
export const errorCases: readonly ConformanceCase[] = [
  ...codes.map(
    (code): ConformanceCase => ({
      name: `an error has its code and message: ${code}`,
      methods: ["Run", "Watch"],
      limits: { compression: ["identity"] },
      script: { failure: { code: numbers[code], message: `is ${code}` } },
      expected: { error: { code, message: `is ${code}`, details: [] }, seen: {} },
    }),
  ),
  ...texts.map(
    (message): ConformanceCase => ({
      name: `an error has the message ${JSON.stringify(message)}`,
      methods: ["Run", "Watch"],
      script: { failure: { code: numbers.internal, message } },
      expected: { error: { code: "internal", message, details: [] }, seen: {} },
    }),
  ),
  {
    name: "an error has its details in order",
    methods: ["Run", "Watch"],
    script: { failure: { code: numbers.aborted, message: "no", details: ["first", "", "third ñ"] } },
    expected: { error: { code: "aborted", message: "no", details: ["first", "", "third ñ"] }, seen: {} },
  },
  {
    name: "an error has the headers and trailers that were set before it, and its own",
    methods: ["Run", "Watch"],
    script: {
      headers: [field("x-header", "first", "second")],
      trailers: [field("x-trailer", "third", "fourth")],
      failure: { code: numbers.not_found, message: "no", metadata: [field("x-own", "fifth", "sixth")] },
    },
    expected: {
      headers: { "x-header": "first, second" },
      trailers: { "x-trailer": "third, fourth" },
      errorMetadata: { "x-own": "fifth, sixth" },
      error: { code: "not_found", message: "no", details: [] },
      seen: {},
    },
  },
  {
    name: "a stream has the messages before its error, and headers and trailers",
    methods: ["Watch"],
    script: {
      headers: [field("x-header", "first")],
      trailers: [field("x-trailer", "second")],
      answers: [bytes("one"), bytes("two")],
      failure: {
        code: numbers.unavailable,
        message: "later",
        metadata: [field("x-own", "third")],
        details: ["detail"],
      },
    },
    expected: {
      answers: ["one", "two"],
      headers: { "x-header": "first" },
      trailers: { "x-trailer": "second" },
      errorMetadata: { "x-own": "third" },
      error: { code: "unavailable", message: "later", details: ["detail"] },
      seen: {},
    },
  },
  {
    name: "an error without a code is internal",
    methods: ["Run", "Watch"],
    script: { failure: { message: "secret" } },
    expected: { error: { code: "internal" } },
  },
];
