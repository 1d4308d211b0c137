import { Wait } from "../../../gen/script/v1/script_pb.js";
import type { ConformanceCase } from "../conformance-case.js";
import { bytes, field } from "../script-parts.js";

const metadata = {
  headers: [field("x-header", "first", "second"), field("x-raw-bin", "AAEC/w")],
  trailers: [field("x-trailer", "third", "fourth"), field("x-end-bin", "/w")],
};
const received = {
  headers: { "x-header": "first, second", "x-raw-bin": "AAEC/w" },
  trailers: { "x-trailer": "third, fourth", "x-end-bin": "/w" },
};
const large = "0123456789abcdef".repeat(128);

/** Calls without an error. */
export const answerCases: readonly ConformanceCase[] = [
  {
    name: "an answer has its data, and the method sees the headers of the call",
    methods: ["Run", "Read", "Watch"],
    script: { answers: [bytes("data")] },
    changes: { headers: { "x-sent": ["one", "two"], "x-sent-bin": "AAEC/w" } },
    expected: { answers: ["data"], seen: { headers: { "x-sent": "one, two", "x-sent-bin": "AAEC/w" } } },
  },
  {
    name: "an empty message is a message",
    methods: ["Run"],
    expected: { answers: [""], seen: {} },
  },
  {
    name: "an empty message is a message",
    methods: ["Watch"],
    expected: {},
  },
  {
    name: "an answer has every value of headers and trailers",
    methods: ["Run", "Watch"],
    script: { ...metadata, answers: [bytes("data")] },
    expected: { ...received, answers: ["data"], seen: {} },
  },
  {
    name: "a stream without messages has headers and trailers",
    methods: ["Watch"],
    script: metadata,
    expected: received,
  },
  {
    name: "a stream has its messages in order",
    methods: ["Watch"],
    script: { answers: Array.from({ length: 100 }, (_, index) => bytes(`${index}`)) },
    expected: { answers: Array.from({ length: 100 }, (_, index) => `${index}`), seen: {} },
  },
  {
    name: "a long answer is compressed if the caller accepts it",
    methods: ["Run"],
    script: { answers: [bytes(large)] },
    expected: { answers: [large], isCompressed: true, seen: {} },
  },
  {
    name: "a long message of a stream is compressed if the caller accepts it",
    methods: ["Watch"],
    script: { answers: [bytes("short"), bytes(large)] },
    expected: { answers: ["short", large], isCompressed: true, seen: {} },
  },
  {
    name: "a method without an implementation is unimplemented",
    methods: ["Miss", "MissStream"],
    expected: { error: { code: "unimplemented" } },
  },
];

/** Calls with a time limit, and headers that are none. */
export const timeLimitCases: readonly ConformanceCase[] = [
  {
    name: "the method knows its deadline",
    methods: ["Run", "Watch"],
    timeLimitMs: 50_000,
    script: { answers: [bytes("data")] },
    expected: { answers: ["data"], seen: { hasTimeLimit: true } },
  },
  {
    name: "a time limit over the maximum is reduced to it",
    methods: ["Run", "Watch"],
    timeLimitMs: 60_001,
    script: { answers: [bytes("data")] },
    expected: { answers: ["data"], seen: { hasTimeLimit: true } },
    otherwise: { difference: "rpc-long-time-limits", expected: { error: { code: "invalid_argument" } } },
  },
  {
    name: "a method that ends at its deadline is deadline_exceeded",
    methods: ["Run", "Watch"],
    timeLimitMs: 50,
    script: { wait: Wait.THROWS_REASON },
    expected: { error: { code: "deadline_exceeded" } },
  },
  {
    name: "a time limit of nothing is deadline_exceeded",
    methods: ["Run", "Watch"],
    timeLimitMs: 0,
    script: { wait: Wait.THROWS_REASON },
    expected: { error: { code: "deadline_exceeded" } },
  },
  {
    name: "a stream that has begun is deadline_exceeded, with its headers and trailers",
    methods: ["Watch"],
    limits: { compression: ["identity"], http: ["2"] },
    timeLimitMs: 1_000,
    script: { ...metadata, answers: [bytes("data")], wait: Wait.THROWS_REASON },
    expected: { ...received, answers: ["data"], error: { code: "deadline_exceeded" }, seen: { hasTimeLimit: true } },
  },
  {
    name: "a method that ends at its deadline with an AbortError is deadline_exceeded",
    methods: ["Run", "Watch"],
    timeLimitMs: 50,
    script: { wait: Wait.THROWS_ABORT_ERROR },
    expected: { error: { code: "deadline_exceeded" } },
    otherwise: { difference: "rpc-late-methods", expected: { error: { code: "internal" } } },
  },
  {
    name: "a method that never ends is deadline_exceeded",
    methods: ["Run"],
    timeLimitMs: 50,
    script: { wait: Wait.FOR_EVER },
    expected: { error: { code: "deadline_exceeded" } },
    otherwise: { difference: "rpc-late-methods", expected: undefined },
  },
  ...["soon", "-1", "1.5", "12345678901", ""].map(
    (limit): ConformanceCase => ({
      name: `the time limit ${JSON.stringify(limit)} is invalid`,
      methods: ["Run", "Watch"],
      limits: { protocol: ["connect"], compression: ["identity"] },
      changes: { headers: { "connect-timeout-ms": limit } },
      expected: { error: { code: "invalid_argument" } },
    }),
  ),
  ...["soon", "-1m", "1.5S", "123456789m", "10", "10s"].map(
    (limit): ConformanceCase => ({
      name: `the time limit ${JSON.stringify(limit)} is invalid`,
      methods: ["Run", "Watch"],
      limits: { protocol: ["grpc", "grpc-web"], compression: ["identity"] },
      changes: { headers: { "grpc-timeout": limit } },
      expected: { error: { code: "invalid_argument" } },
    }),
  ),
];
