import type { ConformanceCase } from "../conformance-case.js";
import { bytes } from "../script-parts.js";
import { answerCases, timeLimitCases } from "./answer-cases.js";
import { sizeCases } from "./body-cases.js";
import { errorCases } from "./error-cases.js";
import { strictnessCases } from "./strictness-cases.js";

const connect = { protocol: ["connect"] } as const;
const plain = { ...connect, compression: ["identity"] } as const;
const json = { ...plain, codec: ["json"] } as const;
const binary = { ...plain, codec: ["proto"] } as const;
const script = { answers: [bytes("data")] };
const answered = { answers: ["data"], seen: {} };
const invalid = { error: { code: "invalid_argument" } } as const;
/** The longest message that fits into a URL is not much longer than the limit. */
const mostBytesOver = 10;

type Defect = Pick<ConformanceCase, "name" | "limits" | "script" | "changes" | "expected" | "otherwise">;

/** Parameters that connect-node ignores, or reads only once. */
const ignored: readonly Defect[] = [
  { name: "another version", changes: { query: { connect: "v2" } }, expected: invalid },
  { name: "base64 that is neither 1 nor absent", limits: json, changes: { query: { base64: "0" } }, expected: invalid },
  { name: "two versions", changes: { query: { connect: ["v1", "v1"] } }, expected: invalid },
  { name: "a body", limits: { ...plain, http: ["2"] }, changes: { body: "{}" }, expected: invalid },
];

const defects: readonly Defect[] = [
  ...ignored.map(ignoredByOthers),
  {
    name: "no message",
    limits: binary,
    script: {},
    changes: { query: { message: undefined } },
    expected: invalid,
    otherwise: { difference: "rpc-connect-get", expected: { answers: [""], seen: {} } },
  },
  { name: "no message", limits: json, changes: { query: { message: undefined } }, expected: invalid },
  { name: "a bad escape", limits: json, changes: { query: { message: "%7B%zz%7D" } }, expected: invalid },
  { name: "JSON that is none", limits: json, changes: { query: { message: "%7B" } }, expected: invalid },
  {
    name: "JSON that is not UTF-8",
    limits: json,
    script: {},
    changes: { query: { message: "%7B%22answers%22%3A%5B%5D%2C%22x%FF%22%3A1%7D" } },
    expected: invalid,
    otherwise: { difference: "rpc-strict-json", expected: { answers: [""], seen: {} } },
  },
  ...["!", "A", "AA==", "CgRkYXRh="].map((message) => ({
    name: `the base64 ${message}`,
    limits: binary,
    changes: { query: { message } },
    expected: invalid,
    otherwise: { difference: "rpc-undecodable", expected: { error: { code: "internal" } } } as const,
  })),
];

/** Calls of Connect by GET (connectrpc.com/docs/protocol, "Unary-Get-Request"). */
export const getCases: readonly ConformanceCase[] = [
  ...[...answerCases, ...timeLimitCases, ...errorCases, ...sizeCases, ...strictnessCases].flatMap(byGet),
  ...defects.map(invalidByGet),
  ...[
    { what: "no version", limits: plain, query: { connect: undefined } },
    { what: "an unknown parameter", limits: plain, query: { other: "x" } },
    { what: "the compression identity", limits: plain, query: { compression: "identity" } },
    { what: "base64 with padding", limits: binary, query: { message: "GgRkYXRh" } },
    { what: "JSON in base64", limits: json, query: { base64: "1", message: "eyJhbnN3ZXJzIjpbIlpHRjBZUT09Il19" } },
    { what: "+ for a blank", limits: json, query: { message: "%7B+%22answers%22:[%22ZGF0YQ==%22]+%7D" } },
  ].map(
    ({ what, limits, query }): ConformanceCase => ({
      name: `by GET, there may be ${what}`,
      methods: ["Read"],
      limits,
      script,
      byGet: true,
      changes: { query },
      expected: answered,
    }),
  ),
  ...[undefined, "", "xml", "JSON", "connect+json"].map(
    (encoding): ConformanceCase => ({
      name: `by GET, the encoding ${encoding} is 415`,
      methods: ["Read"],
      limits: plain,
      script,
      byGet: true,
      changes: { query: { encoding } },
      expected: { status: 415 },
    }),
  ),
  {
    name: "by GET, an unknown compression is unimplemented",
    methods: ["Read"],
    limits: plain,
    script,
    byGet: true,
    changes: { query: { compression: "zstd" } },
    expected: { error: { code: "unimplemented" }, errorMetadata: { "accept-encoding": "gzip,br" } },
  },
  {
    name: "by GET, bytes that cannot be decompressed are an invalid argument",
    methods: ["Read"],
    limits: { ...connect, compression: ["gzip", "br"] },
    byGet: true,
    changes: { query: { message: "bm8gY29tcHJlc3Npb24" } },
    expected: invalid,
  },
];

function ignoredByOthers(defect: Defect): Defect {
  return { ...defect, otherwise: { difference: "rpc-connect-get", expected: answered } };
}

function invalidByGet({ name, limits = plain, ...rest }: Defect): ConformanceCase {
  return { script, ...rest, name: `by GET, ${name} is an invalid argument`, methods: ["Read"], limits, byGet: true };
}

/** Returns a case of unary calls as one by GET, unless it is about bodies or about the absence of a method. */
function byGet({ name, methods, limits, changes, ...rest }: ConformanceCase): ConformanceCase[] {
  const isUnary = methods.some((method) => method === "Run");
  const isShort = (rest.bytesOverLimit ?? 0) <= mostBytesOver;
  const isOfBody = changes?.body !== undefined || changes?.envelopes !== undefined;
  if (!isUnary || !isShort || isOfBody || limits?.protocol?.includes("connect") === false) return [];
  const call = { ...rest, ...(changes === undefined ? {} : { changes }) };
  return [{ ...call, name: `by GET, ${name}`, methods: ["Read"], limits: { ...limits, ...connect }, byGet: true }];
}
