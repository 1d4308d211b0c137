import type { ListenLimits } from "./limits.js";

/** An answer that its client has not read completely. */
export interface UnreadAnswer {
  /**
   * Ends the answer without its remaining bytes. On HTTP/1.1, this destroys the connection. On HTTP/2, this resets the
   * stream with CANCEL or REFUSED_STREAM, and the other streams continue.
   */
  cut(why: "cancelled" | "refused"): void;
}

/** Properties of the connection that an {@link AnswerAccount} belongs to. */
export interface AccountOptions {
  readonly network: string;
  /**
   * Destroys the connection. Called if the service has ended an unread answer early, and the client does not read this
   * end within `unreadGraceMs`.
   */
  readonly cutConnection: () => void;
}

/**
 * The unread answers that share one limit: all answers of a connection, of a network or of the listener. In `answers`,
 * the answer that has made no progress for the longest time comes first.
 */
interface Scope {
  readonly maxBytes: number;
  readonly answers: Map<UnreadAnswer, Held>;
  bytes: number;
}

interface Scopes {
  readonly connection: Scope;
  readonly network: Scope;
  readonly listener: Scope;
}

interface Held {
  readonly since: number;
  readonly scopes: Scopes;
  readonly cutConnection: () => void;
  bytes: number;
}

/** The unread answers of one connection. */
export interface AnswerAccount {
  /**
   * Returns whether another request may be answered: the connection, its network and the listener are below their
   * limits of unread bytes. If a limit is reached, first ends answers that made no progress for `unreadGraceMs`, until
   * the limit is no longer reached. The answer with the longest time without progress is ended first.
   */
  admits(): boolean;
  /**
   * Counts an answer with its size in bytes until it is released, and returns true. If the answer is already counted,
   * only updates its size and returns false.
   */
  hold(answer: UnreadAnswer, bytes: number): boolean;
  /** Stops counting an answer that the client read, or whose stream or connection closed. */
  release(answer: UnreadAnswer): void;
  /** Ends the answer to a request because {@link admits} returned false. */
  refuse(answer: UnreadAnswer): void;
}

/**
 * Limits the unread answers of a listener. An answer without progress for `unreadMs` is ended, even when the client
 * sends other frames such as PING. If the client does not read the end of the answer within `unreadGraceMs`, its
 * connection is destroyed.
 */
export class UnreadAnswers {
  private readonly all: Scope;
  private readonly networks = new Map<string, Scope>();
  private readonly cut = new Map<UnreadAnswer, { readonly since: number; readonly cutConnection: () => void }>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly limits: ListenLimits) {
    this.all = openScope(limits.maxUnreadBytes);
  }

  /** Returns an account that counts the unread answers of a new connection. */
  accountOf({ network, cutConnection }: AccountOptions): AnswerAccount {
    const connection = openScope(this.limits.maxUnreadBytesOfConnection);
    const scopes = () => ({ connection, network: this.scopeOf(network), listener: this.all });
    return {
      admits: () => [connection, this.networks.get(network), this.all].every((scope) => this.hasRoom(scope)),
      hold: (answer, bytes) => {
        const held = connection.answers.get(answer);
        if (held === undefined) this.hold(answer, { since: performance.now(), scopes: scopes(), cutConnection, bytes });
        else count(held, bytes - held.bytes);
        return held === undefined;
      },
      release: (answer) => {
        this.cut.delete(answer);
        this.drop(answer);
        if (this.networks.get(network)?.answers.size === 0) this.networks.delete(network);
      },
      refuse: (answer) => this.end(answer, "refused", cutConnection),
    };
  }

  private scopeOf(network: string): Scope {
    const scope = this.networks.get(network) ?? openScope(maxBytesOfNetwork(this.limits));
    this.networks.set(network, scope);
    return scope;
  }

  private hold(answer: UnreadAnswer, init: Held): void {
    const held = { ...init, bytes: 0 };
    for (const { answers } of Object.values(held.scopes)) answers.set(answer, held);
    count(held, init.bytes);
    this.watch();
  }

  private drop(answer: UnreadAnswer): void {
    const held = this.all.answers.get(answer);
    if (held === undefined) return;
    count(held, -held.bytes);
    for (const { answers } of Object.values(held.scopes)) answers.delete(answer);
  }

  private end(answer: UnreadAnswer, why: "cancelled" | "refused", cutConnection: () => void): void {
    this.drop(answer);
    this.cut.set(answer, { since: performance.now(), cutConnection });
    answer.cut(why);
    this.watch();
  }

  private hasRoom(scope: Scope | undefined): boolean {
    if (scope === undefined) return true;
    const before = performance.now() - this.limits.unreadGraceMs;
    for (const [answer, { since, cutConnection }] of scope.answers) {
      if (scope.bytes < scope.maxBytes || since > before) break;
      this.end(answer, "cancelled", cutConnection);
    }
    return scope.bytes < scope.maxBytes;
  }

  private watch(): void {
    this.timer ??= setInterval(() => this.sweep(), this.limits.checkEveryMs).unref();
  }

  private sweep(): void {
    const now = performance.now();
    for (const [answer, { since, cutConnection }] of this.cut) {
      if (since > now - this.limits.unreadGraceMs) break;
      this.cut.delete(answer);
      cutConnection();
    }
    for (const [answer, { since, cutConnection }] of this.all.answers) {
      if (since > now - this.limits.unreadMs) break;
      this.end(answer, "cancelled", cutConnection);
    }
    if (this.all.answers.size > 0 || this.cut.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

/**
 * Returns the maximum memory of the unread answers of one network, in bytes. If one network is allowed as many
 * connections as the whole listener, its clients are assumed to share a proxy. This network then has the same limit of
 * unread bytes as the whole listener.
 */
function maxBytesOfNetwork(limits: ListenLimits): number {
  const isShared = limits.maxConnectionsPerNetwork >= limits.maxConnections;
  return isShared ? limits.maxUnreadBytes : limits.maxUnreadBytesOfNetwork;
}

function openScope(maxBytes: number): Scope {
  return { maxBytes, answers: new Map(), bytes: 0 };
}

/**
 * Adds `bytes` to the size of an answer and to the bytes of its scopes. Requests that arrive together are all admitted
 * before their answers count, so a network can exceed its limit. The bytes above the limit of the network do not count
 * for the listener, because one network must not exhaust the listener's limit.
 */
function count(held: Held, bytes: number): void {
  const { connection, network, listener } = held.scopes;
  const before = Math.min(network.bytes, network.maxBytes);
  held.bytes += bytes;
  connection.bytes += bytes;
  network.bytes += bytes;
  listener.bytes += Math.min(network.bytes, network.maxBytes) - before;
}
