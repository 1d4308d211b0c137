import type { Protocol } from "../../../src/rpc/incoming.js";

/** A form in which a call can be sent. */
export interface Format {
  readonly protocol: Protocol;
  readonly codec: "proto" | "json";
  /** The compression of the request's message, and the only one that the caller accepts. */
  readonly compression: "identity" | "gzip" | "br";
  readonly http: "1.1" | "2";
  readonly tls: boolean;
}

/** The values that a case is limited to. */
export type FormatLimits = { readonly [Key in keyof Format]?: readonly Format[Key][] };

const compressions = ["identity", "gzip", "br"] as const;

/**
 * Every form of a call. gRPC needs the trailers of HTTP/2. Only Connect has JSON. TLS does not see messages, so it is
 * combined with one form of them.
 */
export const formats: readonly Format[] = [
  ...formatsOf("connect", "proto", "1.1"),
  ...formatsOf("connect", "proto", "2"),
  ...formatsOf("connect", "json", "1.1"),
  ...formatsOf("connect", "json", "2"),
  ...formatsOf("grpc", "proto", "2"),
  ...formatsOf("grpc-web", "proto", "1.1"),
  ...formatsOf("grpc-web", "proto", "2"),
];

/** Returns whether a case with these limits can be sent in this form. */
export function isWithin(limits: FormatLimits, { protocol, codec, compression, http, tls }: Format): boolean {
  return (
    (limits.protocol?.includes(protocol) ?? true) &&
    (limits.codec?.includes(codec) ?? true) &&
    (limits.compression?.includes(compression) ?? true) &&
    (limits.http?.includes(http) ?? true) &&
    (limits.tls?.includes(tls) ?? true)
  );
}

/** Names a form in the title of a test. */
export function nameOf({ protocol, codec, compression, http, tls }: Format): string {
  return `${protocol} ${codec} ${compression} HTTP/${http}${tls ? " TLS" : ""}`;
}

function formatsOf(protocol: Protocol, codec: Format["codec"], http: Format["http"]): Format[] {
  const cleartext = compressions.map((compression) => ({ protocol, codec, compression, http, tls: false }));
  return codec === "json" ? cleartext : [...cleartext, { protocol, codec, compression: "identity", http, tls: true }];
}
