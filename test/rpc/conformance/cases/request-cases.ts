import { ScriptService } from "../../../gen/script/v1/script_pb.js";
import type { ConformanceCase } from "../conformance-case.js";
import { bytes } from "../script-parts.js";

const grpc = { protocol: ["grpc"] } as const;
const grpcWeb = { protocol: ["grpc-web"] } as const;
const connect = { protocol: ["connect"] } as const;
const plain = { compression: ["identity"] } as const;
const script = { answers: [bytes("data")] };
const answered = { answers: ["data"], seen: {} };

/** Media types that are another spelling of the format's own. */
const spellings = [
  { limits: { ...plain, ...grpc }, methods: ["Run", "Watch"], type: "application/grpc" },
  { limits: { ...plain, ...grpcWeb }, methods: ["Run", "Watch"], type: "application/grpc-web" },
  { limits: { ...plain, ...grpc }, methods: ["Run"], type: "Application/GRPC+Proto" },
  { limits: { ...plain, codec: ["json"] }, methods: ["Run"], type: "application/json; charset=utf-8" },
  { limits: { ...plain, codec: ["json"] }, methods: ["Run"], type: "Application/JSON;charset=UTF-8" },
] as const;

/** Media types that no method has, or only methods of the other kind. */
const strangers = [
  { methods: ["Run", "Watch"], type: "image/jpeg" },
  { methods: ["Run", "Watch"], type: "application/foo" },
  { methods: ["Run", "Watch"], type: "application/grpc+foo" },
  { methods: ["Run", "Watch"], type: "application/grpc-web+foo" },
  { methods: ["Run", "Watch"], type: "application/grpc-web-text" },
  { methods: ["Run", "Watch"], type: "application/connect+foo" },
  { methods: ["Run"], type: "application/connect+proto" },
  { methods: ["Watch"], type: "application/proto" },
  { methods: ["Watch"], type: "application/json" },
  { methods: ["Run", "Watch"], type: undefined },
] as const;

/** Requests with another verb, path or media type. */
export const requestCases: readonly ConformanceCase[] = [
  ...["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"].map(
    (verb): ConformanceCase => ({
      name: `${verb} is 405`,
      methods: ["Run", "Watch"],
      limits: plain,
      changes: { verb, body: "" },
      expected: { status: 405 },
    }),
  ),
  ...["/script.v1.NoService/Run", `/${ScriptService.typeName}/NoMethod`, `/${ScriptService.typeName}/run`, "/"].map(
    (path): ConformanceCase => ({
      name: `the path ${path} is 404`,
      methods: ["Run"],
      limits: plain,
      changes: { path },
      expected: { status: 404 },
    }),
  ),
  {
    name: "a query changes nothing",
    methods: ["Run"],
    limits: plain,
    script,
    changes: { path: `/${ScriptService.typeName}/Run?connect=v1` },
    expected: answered,
  },
  ...spellings.map(
    ({ limits, methods, type }): ConformanceCase => ({
      name: `the media type can be ${type}`,
      methods,
      limits,
      script,
      changes: { headers: { "content-type": type } },
      expected: answered,
    }),
  ),
  ...strangers.map(
    ({ methods, type }): ConformanceCase => ({
      name: type === undefined ? "no media type is 415" : `the media type ${type} is 415`,
      methods,
      limits: plain,
      changes: { headers: { "content-type": type } },
      expected: { status: 415 },
    }),
  ),
  {
    name: "a call need not name the version of Connect",
    methods: ["Run", "Watch"],
    limits: { ...plain, ...connect },
    script,
    changes: { headers: { "connect-protocol-version": undefined } },
    expected: answered,
  },
  {
    name: "JSON is 415 over gRPC and gRPC-Web",
    methods: ["Run", "Watch"],
    limits: { ...plain, protocol: ["grpc", "grpc-web"] },
    codec: "json",
    script,
    expected: { status: 415 },
    otherwise: { difference: "rpc-grpc-json", expected: answered },
  },
];
