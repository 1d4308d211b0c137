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

/**
 * Every form of a call. gRPC needs the trailers of HTTP/2. Only Connect has JSON. TLS does not see messages, so it is
 * combined with one form of them.
 */
export const formats: readonly Format[] = combine({
  protocol: ["connect", "grpc", "grpc-web"],
  codec: ["proto", "json"],
  compression: ["identity", "gzip", "br"],
  http: ["1.1", "2"],
  tls: [false, true],
}).filter(
  ({ protocol, codec, compression, http, tls }) =>
    (protocol !== "grpc" || http === "2") &&
    (protocol === "connect" || codec === "proto") &&
    (!tls || (codec === "proto" && compression === "identity")),
);

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

function combine({ protocol, codec, compression, http, tls }: Required<FormatLimits>): Format[] {
  return protocol.flatMap((protocol) =>
    codec.flatMap((codec) =>
      compression.flatMap((compression) =>
        http.flatMap((http) => tls.map((tls) => ({ protocol, codec, compression, http, tls }))),
      ),
    ),
  );
}
