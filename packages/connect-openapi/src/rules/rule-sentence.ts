import { type DescField, type JsonValue, toJson } from "@bufbuild/protobuf";
import { isReflectMessage } from "@bufbuild/protobuf/reflect";
import { base64Encode } from "@bufbuild/protobuf/wire";
import type { Unsaid } from "./translation.js";

const words: Readonly<Record<string, string>> = {
  const: "must equal",
  in: "must be one of",
  not_in: "must not be one of",
  lt: "must be less than",
  lte: "must be at most",
  gt: "must be greater than",
  gte: "must be at least",
  lt_now: "must be in the past",
  gt_now: "must be in the future",
  within: "must differ from now by at most",
  len: "must have this number of bytes:",
  min_len: "must have at least this number of bytes:",
  max_len: "must have at most this number of bytes:",
  len_bytes: "must have this number of bytes in UTF-8:",
  min_bytes: "must have at least this number of bytes in UTF-8:",
  max_bytes: "must have at most this number of bytes in UTF-8:",
  pattern: "must match",
  prefix: "must start with",
  suffix: "must end with",
  contains: "must contain",
  unique: "must not contain an item twice",
  ip: "must be an IP address",
  ipv4: "must be an IPv4 address",
  ipv6: "must be an IPv6 address",
  uuid: "must be a UUID",
  ip_with_prefixlen: "must be an IP address with the length of its prefix",
  ipv4_with_prefixlen: "must be an IPv4 address with the length of its prefix",
  ipv6_with_prefixlen: "must be an IPv6 address with the length of its prefix",
  ip_prefix: "must be an IP prefix",
  ipv4_prefix: "must be an IPv4 prefix",
  ipv6_prefix: "must be an IPv6 prefix",
  host_and_port: "must be a host and a port",
};

/** Describes a protovalidate rule by an English sentence, because no keyword expresses the rule in full. */
export function ruleSentence(typeName: string, rule: DescField, value: unknown): Unsaid {
  const known = words[rule.name] ?? `must satisfy ${typeName}.${rule.name}`;
  const message = value === true ? `the value ${known}` : `the value ${known} ${textOf(value)}`;
  return { id: `${typeName}.${rule.name}`, message, expression: "", reason: "FORM" };
}

function textOf(value: unknown): string {
  if (isReflectMessage(value)) return plainText(toJson(value.desc, value.message));
  if (value instanceof Uint8Array) return `\`${base64Encode(value)}\` in base64`;
  if (typeof value === "object" && value !== null && Symbol.iterator in value)
    return Array.from(value as Iterable<unknown>, textOf).join(", ");
  return typeof value === "string" ? `\`${value}\`` : String(value);
}

function plainText(json: JsonValue): string {
  return typeof json === "string" ? json : JSON.stringify(json);
}
