import { existsSync, statSync } from "node:fs";
import { BlockList, isIP } from "node:net";

/** One environment variable: how to read it, and what to tell people about it. */
export interface Setting<T> {
  readonly name: string;
  readonly about: string;
  /** What it takes, to complete the sentence "it takes …". */
  readonly takes: string;
  /** The text it has where the variable is absent. */
  readonly defaultText?: string;
  /** Whether its value must not be shown, in errors either. */
  readonly isSecret?: boolean;
  /** The value of the text; undefined where it is not what the setting takes. */
  readonly parse: (held: string) => T | undefined;
}

export function address(name: string, defaultText: string, about: string): Setting<string> {
  const parse = (held: string) => (isIP(held) > 0 ? held : matching(/^(?=.*[A-Za-z])[A-Za-z0-9.-]+$/)(held));
  return { name, about, defaultText, takes: "an IP address or a host name", parse };
}

export function port(name: string, defaultText: string, about: string): Setting<number> {
  return { name, about, defaultText, takes: "a whole number from 0 to 65535", parse: whole(0, 65_535) };
}

export function count(name: string, defaultText: string, about: string): Setting<number> {
  return { name, about, defaultText, takes: "a whole number from 1 to 1000000000", parse: whole(1, 1_000_000_000) };
}

export function minutes(name: string, defaultText: string, about: string): Setting<number> {
  return { name, about, defaultText, takes: "a whole number of minutes from 0 to 1440", parse: whole(0, 1_440) };
}

export function databaseUrl(name: string, about: string): Setting<string> {
  const parse = (held: string) => (/^postgres(ql)?:$/.test(urlOf(held)?.protocol ?? "") ? held : undefined);
  return { name, about, takes: "a URL such as postgres://user:password@host:5432/database", isSecret: true, parse };
}

export function text(name: string, about: string): Setting<string> {
  return { name, about, takes: "a text", parse: (held) => held };
}

export function file(name: string, about: string): Setting<string> {
  const parse = (held: string) => (existsSync(held) && !statSync(held).isDirectory() ? held : undefined);
  return { name, about, takes: "the path of a file that exists", parse };
}

export function claim(name: string, defaultText: string, about: string): Setting<string> {
  return { name, about, defaultText, takes: "the name of a claim, without blanks", parse: matching(/^\S+$/) };
}

export function whole(from: number, to: number): (held: string) => number | undefined {
  return (held) => (/^\d{1,10}$/.test(held) && Number(held) >= from && Number(held) <= to ? Number(held) : undefined);
}

export function matching(pattern: RegExp): (held: string) => string | undefined {
  return (held) => (pattern.test(held) ? held : undefined);
}

function urlOf(held: string): URL | undefined {
  return URL.canParse(held) ? new URL(held) : undefined;
}

/** Something is put behind it, and callers see it: so it ends with its path, has no secret and only one spelling. */
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

export function jwksUrl(held: string): string | undefined {
  const url = urlOf(held);
  if (url === undefined || url.username !== "" || url.password !== "") return undefined;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname)) ? held : undefined;
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether a host, which may be that of a URL, can be reached from this machine only: an address or `localhost`. */
export function isLoopback(host: string): boolean {
  const literal = host.replace(/^\[(.*)\]$/, "$1");
  const family = isIP(literal);
  return family === 0 ? host === "localhost" : loopback.check(literal, family === 6 ? "ipv6" : "ipv4");
}
