import type { ConformanceCase } from "../conformance-case.js";
import { bytes } from "../script-parts.js";

type Defect = Pick<ConformanceCase, "name" | "changes" | "expected" | "otherwise">;

const grpc = { protocol: ["grpc", "grpc-web"] } as const;
const connect = { protocol: ["connect"] } as const;
const plain = { compression: ["identity"] } as const;
const compressed = { compression: ["gzip", "br"] } as const;
const script = { answers: [bytes("data")] };
const answered = { answers: ["data"], seen: {} };
const invalid = { error: { code: "invalid_argument" } } as const;
const internal = { error: { code: "internal" } } as const;
const unimplemented = { error: { code: "unimplemented" } } as const;
const exhausted = { error: { code: "resource_exhausted" } } as const;

const large = "0123456789abcdef".repeat(128);

/** The headers that name the compression of messages. */
const encodingHeaders = [
  { limits: { ...plain, ...connect }, methods: ["Run"], prefix: "", name: "content-encoding" },
  { limits: { ...plain, ...connect }, methods: ["Watch"], prefix: "connect-", name: "connect-content-encoding" },
  { limits: { ...plain, ...grpc }, methods: ["Run", "Watch"], prefix: "grpc-", name: "grpc-encoding" },
] as const;

/** Flags that a request must not have: the library ignores some, others end the request for it. */
const reservedFlags = [
  { protocol: "connect", methods: ["Watch"], flags: 0x02, otherwise: unimplemented },
  { protocol: "connect", methods: ["Watch"], flags: 0x80, otherwise: answered },
  { protocol: "grpc", methods: ["Run", "Watch"], flags: 0x02, otherwise: answered },
  { protocol: "grpc", methods: ["Run", "Watch"], flags: 0x80, otherwise: answered },
  { protocol: "grpc-web", methods: ["Run", "Watch"], flags: 0x02, otherwise: answered },
  { protocol: "grpc-web", methods: ["Run", "Watch"], flags: 0x80, otherwise: unimplemented },
] as const;

/** Calls by the length of their message. */
export const sizeCases: readonly ConformanceCase[] = [
  {
    name: "a message as long as the limit is accepted",
    methods: ["Run", "Watch"],
    bytesOverLimit: 0,
    script,
    expected: answered,
  },
  ...[1, 10, 1_000_000].map(
    (bytesOverLimit): ConformanceCase => ({
      name: `a message ${bytesOverLimit} bytes over the limit is resource_exhausted`,
      methods: ["Run", "Watch"],
      bytesOverLimit,
      script,
      expected: exhausted,
    }),
  ),
  ...inEnvelopes({
    name: "a message that says it has 4 GiB is resource_exhausted",
    changes: { envelopes: [{ length: 2 ** 32 - 1 }] },
    expected: exhausted,
  }),
];

/** Calls whose body is not one message. */
export const bodyCases: readonly ConformanceCase[] = [
  ...inEnvelopes({
    name: "a body without a message is unimplemented",
    changes: { envelopes: [] },
    expected: unimplemented,
  }),
  ...inEnvelopes({
    name: "two messages are unimplemented",
    changes: { envelopes: [{}, {}] },
    expected: unimplemented,
  }),
  ...inEnvelopes({
    name: "a body that ends within the prefix is an invalid argument",
    changes: { body: "\0\0\0" },
    expected: invalid,
  }),
  ...inEnvelopes({
    name: "a body that ends within the message is an invalid argument",
    changes: { cutOff: 1 },
    expected: invalid,
  }),
  {
    name: "undecodable JSON is an invalid argument",
    methods: ["Run"],
    limits: { ...plain, codec: ["json"] },
    changes: { body: "{" },
    expected: invalid,
  },
  {
    name: "undecodable JSON is an invalid argument",
    methods: ["Watch"],
    limits: { ...plain, codec: ["json"] },
    changes: { envelopes: [{ message: "{" }] },
    expected: invalid,
  },
  {
    name: "undecodable bytes are an invalid argument",
    methods: ["Run"],
    limits: { ...plain, ...connect, codec: ["proto"] },
    changes: { body: "\xff" },
    expected: invalid,
    otherwise: { difference: "rpc-undecodable", expected: internal },
  },
  {
    name: "undecodable bytes are an invalid argument",
    methods: ["Watch"],
    limits: { ...plain, codec: ["proto"] },
    changes: { envelopes: [{ message: "\xff" }] },
    expected: invalid,
    otherwise: { difference: "rpc-undecodable", expected: internal },
  },
  {
    name: "undecodable bytes are an invalid argument",
    methods: ["Run"],
    limits: { ...plain, ...grpc },
    changes: { envelopes: [{ message: "\xff" }] },
    expected: invalid,
    otherwise: { difference: "rpc-undecodable", expected: internal },
  },
  {
    name: "no JSON is an invalid argument, even for an empty message",
    methods: ["Run"],
    limits: { ...plain, codec: ["json"] },
    changes: { body: "" },
    expected: invalid,
  },
];

/** Calls whose flags and compression do not fit together. */
export const compressionCases: readonly ConformanceCase[] = [
  ...inEnvelopes({
    name: "a compressed message without a named compression is internal",
    changes: { envelopes: [{ flags: 1 }] },
    expected: internal,
  }),
  ...reservedFlags.map(
    ({ protocol, methods, flags, otherwise }): ConformanceCase => ({
      name: `a message with the reserved flags ${flags} is internal`,
      methods,
      limits: { ...plain, protocol: [protocol] },
      script,
      changes: { envelopes: [{ flags }] },
      expected: internal,
      otherwise: { difference: "rpc-flags", expected: otherwise },
    }),
  ),
  {
    name: "identity can be named",
    methods: ["Run", "Watch"],
    limits: plain,
    script,
    changes: {
      headers: { "content-encoding": "identity", "connect-content-encoding": "identity", "grpc-encoding": "identity" },
    },
    expected: answered,
  },
  {
    name: "a message need not be compressed where a compression is named",
    methods: ["Watch"],
    limits: { ...compressed, codec: ["proto"] },
    changes: { envelopes: [{ flags: 0, message: "" }] },
    expected: {},
  },
  {
    name: "bytes that cannot be decompressed are an invalid argument",
    methods: ["Run"],
    limits: { ...compressed, ...connect },
    changes: { body: "no compression" },
    expected: invalid,
  },
  {
    name: "bytes that cannot be decompressed are an invalid argument",
    methods: ["Watch"],
    limits: compressed,
    changes: { envelopes: [{ flags: 1, message: "no compression" }] },
    expected: invalid,
  },
  ...encodingHeaders.flatMap(({ limits, methods, prefix, name }) =>
    [{}, { envelopes: [{ flags: 1 }] }].map(
      (changes): ConformanceCase => ({
        name: `an unknown compression is unimplemented${"envelopes" in changes ? "" : ", even if no message has it"}`,
        methods,
        limits,
        script,
        changes: { ...changes, headers: { [name]: "zstd" } },
        expected: { ...unimplemented, errorMetadata: { [`${prefix}accept-encoding`]: "gzip,br" } },
      }),
    ),
  ),
  ...encodingHeaders.map(
    ({ limits, methods, prefix }): ConformanceCase => ({
      name: "a long answer to a compressed message is not compressed if the caller does not say what it accepts",
      methods,
      limits: { ...limits, ...compressed },
      script: { answers: [bytes(large)] },
      changes: { headers: { [`${prefix}accept-encoding`]: undefined } },
      expected: { answers: [large], seen: {} },
      otherwise: {
        difference: "rpc-unasked-compression",
        expected: { answers: [large], isCompressed: true, seen: {} },
      },
    }),
  ),
];

/** Returns the cases of a defect in the envelopes of a body, over each protocol that has them. */
function inEnvelopes(defect: Defect): ConformanceCase[] {
  return [
    { ...defect, methods: ["Run", "Watch"], limits: { ...plain, ...grpc }, script },
    { ...defect, methods: ["Watch"], limits: { ...plain, ...connect }, script },
  ];
}
