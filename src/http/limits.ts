/**
 * Limits of a listener and its connections. Times are in milliseconds, sizes in bytes unless the name says otherwise.
 */
export interface ListenLimits {
  /**
   * Maximum number of open TCP connections. A further connection is closed as soon as it is accepted. Above nine tenths
   * of the limit, each new connection ends the longest idle one.
   */
  readonly maxConnections: number;
  /**
   * Maximum number of open TCP connections from one remote IPv4 address or one IPv6 network of 64 bits. A proxy is one
   * address for all its clients.
   */
  readonly maxConnectionsPerNetwork: number;
  /**
   * Maximum time from the accepted connection to the bytes that show its protocol (cleartext) or to the end of the
   * handshake (TLS). After this time, the connection is closed. A cleartext client that has sent at least one byte
   * receives 408 first.
   */
  readonly openingMs: number;
  /**
   * Maximum time from the first byte of an HTTP/1.1 request to the end of its headers. For the first request after a
   * TLS handshake, the time begins at the end of the handshake. After this time, the answer is 408. If no byte of a
   * request has arrived, the connection is closed without an answer. Must not exceed `requestMs`.
   */
  readonly headersMs: number;
  /**
   * Maximum time for a request to arrive: from its first byte (HTTP/1.1) or the end of its headers (HTTP/2) to the last
   * byte of its body. After this time, HTTP/1.1 answers 408, and HTTP/2 cancels the stream.
   */
  readonly requestMs: number;
  /**
   * Interval between checks of `headersMs` and `requestMs` on HTTP/1.1 connections, and of `unreadMs` and
   * `unreadGraceMs`. Each of these limits can be exceeded by up to this time.
   */
  readonly checkEveryMs: number;
  /**
   * An HTTP/1.1 connection without a request is closed this long after its last answer. This time must exceed the idle
   * timeout of the proxy in front of the service: by default 60 s for nginx and for AWS's Application Load Balancer.
   * Otherwise the proxy could send a request on a connection that the service closes, and would have to answer 502.
   */
  readonly keepAliveMs: number;
  /**
   * An HTTP/1.1 connection is destroyed if no byte arrives or leaves for this long during a request or its answer. One
   * cause is a client that does not read.
   */
  readonly stalledMs: number;
  /**
   * After the service has closed its side of a connection, the peer has this long to close its own side. Then the
   * socket is destroyed. Bytes that the peer still sends are discarded. If the service destroyed the socket
   * immediately, TCP would reset the connection and the last answer could be lost (RFC 9112 section 9.6).
   */
  readonly lingerMs: number;
  /** After this long without data, TCP probes whether the peer still exists. */
  readonly probeAfterMs: number;
  /**
   * Maximum size in bytes of the request line and headers on HTTP/1.1, or of the header list on HTTP/2 as RFC 9113
   * counts it. A larger size is answered with 431. On HTTP/2, the listener announces and reads up to twice the limit,
   * so that it can answer 431. It resets streams with even larger lists.
   */
  readonly maxHeaderBytes: number;
  /**
   * Maximum number of HTTP/1.1 requests of one connection that wait for their answers. With more, the connection is
   * destroyed.
   */
  readonly maxPipelinedRequests: number;
  /**
   * Maximum number of requests of one HTTP/1.1 connection that are in progress or have unread answers. Further requests
   * wait, and no more requests are read meanwhile.
   */
  readonly maxPipelinedAtWork: number;
  /**
   * If an answer, or a 64 KiB piece of an answer, stays unread for this long, the answer ends without its remaining
   * bytes.
   */
  readonly unreadMs: number;
  /**
   * This time has two uses:
   * - When a limit of unread bytes is reached, unread answers that made no progress for this long are ended early. The
   *   answer with the longest time without progress is ended first. This stops when the bytes are below the limit.
   * - After an answer has been ended early, its client has this long to read the end, such as the reset of an HTTP/2
   *   stream. Then the connection is destroyed.
   */
  readonly unreadGraceMs: number;
  /**
   * Maximum memory of the unread answers of one connection, in bytes. An answer counts as the sum of:
   * - 16 KiB
   * - its body. If the length of the body is unknown, only the bytes that are written but not yet sent count.
   * - on HTTP/2, four times the size of the headers of its request
   *
   * At the limit, first ends answers that made no progress for `unreadGraceMs`. If the limit is still reached, new
   * requests are refused: 503 on HTTP/1.1, REFUSED_STREAM on HTTP/2.
   */
  readonly maxUnreadBytesOfConnection: number;
  /**
   * Maximum memory of the unread answers of one IPv4 address or one IPv6 network of 64 bits, in bytes. Answers count as
   * for `maxUnreadBytesOfConnection`. Ignored if one network may have all connections (`maxConnectionsPerNetwork` is at
   * least `maxConnections`).
   */
  readonly maxUnreadBytesOfNetwork: number;
  /**
   * Maximum memory of the unread answers of all connections of the listener, in bytes. Answers count as for
   * `maxUnreadBytesOfConnection`.
   */
  readonly maxUnreadBytes: number;
  /**
   * Maximum number of open HTTP/2 streams in one session (SETTINGS_MAX_CONCURRENT_STREAMS). A further stream is
   * refused. It also ends the session if the peer has acknowledged this setting.
   */
  readonly maxStreams: number;
  /** An HTTP/2 session is ended after this many of its streams were refused for lack of memory. */
  readonly maxRejectedStreams: number;
  /** An HTTP/2 session is ended after this many invalid or empty frames. */
  readonly maxInvalidFrames: number;
  /** Maximum memory of one HTTP/2 session, in units of 1,000,000 bytes. Above this size, new streams are refused. */
  readonly maxSessionMegabytes: number;
  /**
   * An HTTP/2 session without a stream is ended after this long, even if it receives other frames. GOAWAY then reports
   * which streams were accepted. A proxy can safely send all other requests again, so this time may be shorter than the
   * idle timeout of proxies.
   */
  readonly sessionIdleMs: number;
  /**
   * After this long without any frame, the open streams of an HTTP/2 session are cancelled and the session is ended. A
   * PING counts as a frame.
   */
  readonly sessionStalledMs: number;
}

/**
 * The limits of a production listener. Node's HTTP/2 library has further built-in limits:
 * - 1,000 stream resets, and 33 more per second
 * - 1,000 unsent acknowledgements of PING or SETTINGS
 * - 32 settings in a frame
 * - 8 CONTINUATION frames
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
  maxPipelinedAtWork: 8,
  unreadMs: 30_000,
  unreadGraceMs: 2_000,
  maxUnreadBytesOfConnection: 8 * 1024 * 1024,
  maxUnreadBytesOfNetwork: 32 * 1024 * 1024,
  maxUnreadBytes: 64 * 1024 * 1024,
  maxStreams: 100,
  maxRejectedStreams: 100,
  maxInvalidFrames: 100,
  maxSessionMegabytes: 10,
  sessionIdleMs: 45_000,
  sessionStalledMs: 300_000,
};
