import { existsSync, statSync } from "node:fs";
import { BlockList, isIP } from "node:net";

/** One environment variable: its documentation and its parser. */
export interface Setting<T> {
  readonly name: string;
  readonly about: string;
  /** The allowed values, to complete the sentence "it must be …". */
  readonly takes: string;
  /** The text that is used if the variable is absent. */
  readonly defaultText?: string;
  /** Whether the value is secret. Errors do not show a secret value. */
  readonly isSecret?: boolean;
  /** Parses a text; returns undefined if the setting does not allow the text. */
  readonly parse: (held: string) => T | undefined;
}

/** Returns a setting with an IP address or a host name. */
export function address(name: string, defaultText: string, about: string): Setting<string> {
  const parse = (held: string) => (isIP(held) > 0 ? held : matching(/^(?=.*[A-Za-z])[A-Za-z0-9.-]+$/)(held));
  return { name, about, defaultText, takes: "an IP address or a host name", parse };
}

/** Returns a setting with a TCP port. Port 0 picks a free port. */
export function port(name: string, defaultText: string, about: string): Setting<number> {
  return { name, about, defaultText, takes: "a whole number from 0 to 65535", parse: whole(0, 65_535) };
}

/** Returns a setting with a whole number from 1 to 1,000,000,000. */
export function count(name: string, defaultText: string, about: string): Setting<number> {
  return { name, about, defaultText, takes: "a whole number from 1 to 1000000000", parse: whole(1, 1_000_000_000) };
}

/** Returns a setting with a whole number of minutes, from 0 to 1440 (a day). */
export function minutes(name: string, defaultText: string, about: string): Setting<number> {
  return { name, about, defaultText, takes: "a whole number of minutes from 0 to 1440", parse: whole(0, 1_440) };
}

/**
 * Returns a setting with a postgres:// or postgresql:// URL, whose role and database must be percent-encoded. The value
 * is secret, because it can contain a password.
 */
export function databaseUrl(name: string, about: string): Setting<string> {
  const parse = (held: string) => {
    const url = urlOf(held);
    if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol)) return undefined;
    return [url.username, url.pathname].every(isDecodable) ? held : undefined;
  };
  return { name, about, takes: "a URL such as postgres://user:password@host:5432/database", isSecret: true, parse };
}

/** Whether each percent sign begins an escape, and the escapes are UTF-8. */
function isDecodable(encoded: string): boolean {
  try {
    decodeURIComponent(encoded);
    return true;
  } catch {
    return false;
  }
}

/** Returns a setting with any text. */
export function text(name: string, about: string): Setting<string> {
  return { name, about, takes: "a text", parse: (held) => held };
}

/** Returns a setting with the path of a file that exists. */
export function file(name: string, about: string): Setting<string> {
  const parse = (held: string) => (existsSync(held) && !statSync(held).isDirectory() ? held : undefined);
  return { name, about, takes: "the path of a file that exists", parse };
}

/** Returns a setting with the name of a claim in access tokens. */
export function claim(name: string, defaultText: string, about: string): Setting<string> {
  return { name, about, defaultText, takes: "the name of a claim, without blanks", parse: matching(/^\S+$/) };
}

/** Parses networks in CIDR notation, separated by spaces. Returns undefined if one is invalid. */
export function networks(held: string): readonly string[] | undefined {
  const parts = held.split(" ");
  return parts.every(isNetwork) ? parts : undefined;
}

/** Parses keys of 32 bytes in base64, separated by spaces. Returns undefined if one is invalid. */
export function keys(held: string): readonly Uint8Array[] | undefined {
  const parts = held.split(" ");
  return parts.every((part) => /^[A-Za-z0-9+/]{43}=$/.test(part))
    ? parts.map((part) => Buffer.from(part, "base64"))
    : undefined;
}

function isNetwork(held: string): boolean {
  const [, base = "", bits = ""] = /^([0-9A-Fa-f.:]+)\/(\d{1,3})$/.exec(held) ?? [];
  const family = isIP(base);
  return family > 0 && Number(bits) <= (family === 4 ? 32 : 128);
}

/**
 * Returns a parser of whole numbers in a range, both ends included. The parser returns undefined for any other text.
 */
export function whole(from: number, to: number): (held: string) => number | undefined {
  return (held) => (/^\d{1,10}$/.test(held) && Number(held) >= from && Number(held) <= to ? Number(held) : undefined);
}

/** Returns a parser that returns the text if it matches a pattern, otherwise undefined. */
export function matching(pattern: RegExp): (held: string) => string | undefined {
  return (held) => (pattern.test(held) ? held : undefined);
}

function urlOf(held: string): URL | undefined {
  return URL.canParse(held) ? new URL(held) : undefined;
}

/**
 * Returns a setting with a URL to which paths are appended. Callers see the URL, so it must have no user, password,
 * query or fragment. Trailing slashes are removed.
 */
export function prefixUrl(name: string, about: string): Setting<string> {
  const parse = (held: string) => {
    const url = urlOf(held);
    if (url === undefined || !/^https?:$/.test(url.protocol) || hasMore(url)) return undefined;
    return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
  };
  return { name, about, takes: "an http or https URL without user, password, query and fragment", parse };
}

function hasMore({ username, password, search, hash }: URL): boolean {
  return [username, password, search, hash].some((part) => part !== "");
}

/**
 * Parses origins of web pages, separated by spaces, or `*` for all. Each origin must be written as browsers send it.
 * Returns undefined if one is invalid.
 */
export function origins(held: string): readonly string[] | undefined {
  const all = held.split(" ");
  const isOrigin = (each: string) => /^https?:[^*]+$/.test(each) && urlOf(each)?.origin === each;
  return held === "*" || all.every(isOrigin) ? all : undefined;
}

/**
 * Parses the URL of a key set: https, or http on `localhost` or a loopback address. Returns undefined for any other
 * URL, and for a URL with user or password.
 */
export function jwksUrl(held: string): string | undefined {
  const url = urlOf(held);
  if (url === undefined || url.username !== "" || url.password !== "") return undefined;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname)) ? held : undefined;
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/**
 * Whether only this machine can reach a host: `localhost` or a loopback address. An IPv6 address may be in brackets.
 */
export function isLoopback(host: string): boolean {
  const literal = host.replace(/^\[(.*)\]$/, "$1");
  const family = isIP(literal);
  return family === 0 ? host === "localhost" : loopback.check(literal, family === 6 ? "ipv6" : "ipv4");
}
