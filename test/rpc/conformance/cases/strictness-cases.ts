import type { ConformanceCase } from "../conformance-case.js";
import { bytes, field } from "../script-parts.js";

const json = { codec: ["json"], compression: ["identity"] } as const;
const binary = { codec: ["proto"], compression: ["identity"] } as const;
const invalid = { error: { code: "invalid_argument" } } as const;

/** JSON that protobuf-es reads and our reader refuses. */
const lenient = [
  { what: "an unknown member", json: `{"answers":["ZGF0YQ=="],"unknown":1}` },
  { what: "the name of a field in the proto", json: `{"answers":["ZGF0YQ=="],"request_padding":""}` },
  { what: "null for no value", json: `{"answers":["ZGF0YQ=="],"wait":null}` },
  { what: "the number of an enum value", json: `{"answers":["ZGF0YQ=="],"wait":0}` },
  { what: "base64 without padding", json: `{"answers":["ZGF0YQ"]}` },
];

/** Messages that can be decoded and that our handler judges by stricter rules than the library. */
export const strictnessCases: readonly ConformanceCase[] = [
  ...lenient.map(
    ({ what, json: text }): ConformanceCase => ({
      name: `JSON with ${what} is an invalid argument`,
      methods: ["Run", "Watch"],
      limits: json,
      script: { answers: [bytes("data")] },
      json: text,
      expected: invalid,
      otherwise: { difference: "rpc-strict-json", expected: { answers: ["data"], seen: {} } },
    }),
  ),
  {
    name: "JSON with a member twice is an invalid argument",
    methods: ["Run", "Watch"],
    limits: json,
    json: `{"answers":[],"answers":[]}`,
    expected: invalid,
  },
  {
    name: "a text with U+0000 is an invalid argument",
    methods: ["Run", "Watch"],
    limits: binary,
    script: { answers: [bytes("data")], headers: [field("\0")] },
    expected: invalid,
    otherwise: { difference: "rpc-strict-values", expected: { answers: ["data"], seen: {} } },
  },
];
