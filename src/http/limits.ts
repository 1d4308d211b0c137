/** What a listener allows a connection to cost. Times are in milliseconds, sizes in bytes where the name says nothing else. */
export interface ListenLimits {
  /** TCP connections at once; one more is closed as soon as it is accepted. Above nine tenths of them each new one ends the
   * one that has been idle longest. */
  readonly maxConnections: number;
  /** The same from one remote IPv4 address or one IPv6 network of 64 bits. A proxy is one address for all its clients. */
  readonly maxConnectionsPerNetwork: number;
  /** From the accepted connection to its first byte (cleartext) or to the end of the handshake (TLS). */
  readonly openingMs: number;
  /** From the first byte of an HTTP/1.1 request to the end of its headers; then 408. At most `requestMs`. */
  readonly headersMs: number;
  /** From the first byte of a request to the last of its body: 408 on HTTP/1.1, a cancelled stream on HTTP/2. */
  readonly requestMs: number;
  /** How often HTTP/1.1 connections are checked against the two limits above, which are late by this much at most. */
  readonly checkEveryMs: number;
  /** How long an HTTP/1.1 connection may stay without a request. Longer than the 60 s after which nginx and the load
   * balancers of the large clouds close theirs: the proxy must be the side that closes, or it sends a request into a
   * connection that is going away and has to answer 502. */
  readonly keepAliveMs: number;
  /** How long an HTTP/1.1 connection may stand still in the middle of an exchange, such as a client that does not read. */
  readonly stalledMs: number;
  /** What the peer gets to close its side once this side has ended, while its remaining bytes are thrown away. Closing at
   * once would make TCP reset the connection and lose the last answer on its way (RFC 9112 section 9.6). */
  readonly lingerMs: number;
  /** Silence after which TCP probes whether the peer still exists. */
  readonly probeAfterMs: number;
  /** Request line and headers of HTTP/1.1 together (then 431), the header list of HTTP/2 as RFC 9113 counts it. */
  readonly maxHeaderBytes: number;
  /** HTTP/1.1 requests of one connection that wait for their answers; with more, the connection is destroyed. */
  readonly maxPipelinedRequests: number;
  /** HTTP/2 streams open at once in one session (SETTINGS_MAX_CONCURRENT_STREAMS). One more is refused, and ends the
   * session if the peer has acknowledged the setting. */
  readonly maxStreams: number;
  /** HTTP/2 streams refused for lack of memory after which the session is ended. */
  readonly maxRejectedStreams: number;
  /** Invalid or empty HTTP/2 frames after which the session is ended. */
  readonly maxInvalidFrames: number;
  /** Memory of one HTTP/2 session in units of 1,000,000 bytes, above which new streams are refused. */
  readonly maxSessionMegabytes: number;
  /** How long an HTTP/2 session may be without a stream, whatever else is sent on it. GOAWAY tells the peer which of its
   * streams were taken, so this may be shorter than the patience of proxies. */
  readonly sessionIdleMs: number;
  /** Silence, without even a PING, after which an HTTP/2 session is ended though it has open streams. */
  readonly sessionStalledMs: number;
}

/**
 * The limits of a listener in production. Not listed because Node's HTTP/2 library has them built in: 1,000 stream resets
 * and 33 more a second, 1,000 unsent acknowledgements of PING or SETTINGS, 32 settings in a frame, 8 CONTINUATION frames,
 * 128 headers in a request.
 */
export const defaultLimits: ListenLimits = {
  maxConnections: 10_000,
  maxConnectionsPerNetwork: 1_000,
  openingMs: 10_000,
  headersMs: 10_000,
  requestMs: 30_000,
  checkEveryMs: 1_000,
  keepAliveMs: 75_000,
  stalledMs: 120_000,
  lingerMs: 1_000,
  probeAfterMs: 30_000,
  maxHeaderBytes: 16 * 1024,
  maxPipelinedRequests: 100,
  maxStreams: 100,
  maxRejectedStreams: 100,
  maxInvalidFrames: 100,
  maxSessionMegabytes: 10,
  sessionIdleMs: 45_000,
  sessionStalledMs: 300_000,
};
