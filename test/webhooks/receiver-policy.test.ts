import { describe, expect, test } from "vitest";
import { createReceiverPolicy } from "../../src/webhooks/receiver-policy.js";

const strict = createReceiverPolicy({ allowHttp: false, allowAddresses: [] });

const REFUSED = [
  ["loopback", "https://127.0.0.1/"],
  ["loopback, other address", "https://127.8.8.8/"],
  ["loopback, short form", "https://127.1/"],
  ["loopback, decimal", "https://2130706433/"],
  ["loopback, octal", "https://0177.0.0.1/"],
  ["loopback, hexadecimal", "https://0x7f000001/"],
  ["loopback, full-width digits", "https://１２７.0.0.1/"],
  ["loopback, dot at the end", "https://127.0.0.1./"],
  ["loopback, IPv6", "https://[::1]/"],
  ["unspecified", "https://0.0.0.0/"],
  ["unspecified, one number", "https://0/"],
  ["unspecified, IPv6", "https://[::]/"],
  ["private, 10/8", "https://10.1.2.3/"],
  ["private, 172.16/12", "https://172.31.255.255/"],
  ["private, 192.168/16", "https://192.168.0.1:8443/"],
  ["carrier-grade NAT", "https://100.64.0.1/"],
  ["link-local", "https://169.254.1.1/"],
  ["metadata service", "https://169.254.169.254/latest/meta-data/"],
  ["metadata service, decimal", "https://2852039166/"],
  ["metadata service, IPv6", "https://[fd00:ec2::254]/"],
  ["metadata service by name", "https://metadata.google.internal/"],
  ["multicast", "https://224.0.0.1/"],
  ["multicast, IPv6", "https://[ff02::1]/"],
  ["broadcast", "https://255.255.255.255/"],
  ["reserved", "https://240.0.0.1/"],
  ["documentation", "https://203.0.113.7/"],
  ["documentation, 192.0.2/24", "https://192.0.2.1/"],
  ["documentation, 198.51.100/24", "https://198.51.100.1/"],
  ["documentation, IPv6", "https://[2001:db8::1]/"],
  ["documentation, 3fff::/20", "https://[3fff::1]/"],
  ["protocol assignments", "https://192.0.0.8/"],
  ["relays of 6to4", "https://192.88.99.1/"],
  ["benchmarks", "https://198.18.0.1/"],
  ["unique local, IPv6", "https://[fc00::1]/"],
  ["link-local, IPv6", "https://[fe80::1]/"],
  ["site-local, IPv6", "https://[fec0::1]/"],
  ["IPv4 mapped into IPv6", "https://[::ffff:10.0.0.1]/"],
  ["public IPv4 mapped into IPv6", "https://[::ffff:8.8.8.8]/"],
  ["IPv4-compatible IPv6", "https://[::127.0.0.1]/"],
  ["NAT64", "https://[64:ff9b::7f00:1]/"],
  ["NAT64, local prefix", "https://[64:ff9b:1::a00:1]/"],
  ["6to4", "https://[2002:7f00:1::]/"],
  ["Teredo", "https://[2001:0:53aa:64c::1]/"],
  ["localhost", "https://localhost/"],
  ["localhost, dot at the end", "https://localhost./"],
  ["a name below localhost", "https://evil.localhost/"],
  ["a name without a dot", "https://database/"],
  ["a name of the local network", "https://printer.local/"],
] as const;

const MALFORMED = [
  ["http", "http://example.com/", "begin with https://"],
  ["another scheme", "ftp://example.com/", "begin with https://"],
  ["a script", "javascript:alert(1)", "begin with https://"],
  ["no scheme", "example.com/hook", "be an absolute https URL"],
  ["a user", "https://user@example.com/", "have no user and no password"],
  ["a user that looks like a host", "https://example.com@10.0.0.1/", "have no user and no password"],
  ["a password", "https://:secret@example.com/", "have no user and no password"],
  ["a fragment", "https://example.com/#part", "have no fragment"],
  ["the port of SSH", "https://example.com:22/", "have the port 443 or a port from 1024"],
  ["the port of mail", "https://example.com:25/", "have the port 443 or a port from 1024"],
  ["the port of http", "https://example.com:80/", "have the port 443 or a port from 1024"],
] as const;

describe("a URL is refused", () => {
  test.each(REFUSED)("for its host: %s", (_, url) => {
    expect(strict.refusalOf(url)).toBe("name a host on the public internet");
  });

  test.each(MALFORMED)("for its form: %s", (_, url, refusal) => {
    expect(strict.refusalOf(url)).toBe(refusal);
  });
});

test.each([
  "https://example.com/",
  "https://example.com:443/hook?token=abc",
  "https://example.com:8443/",
  "https://8.8.8.8/",
  "https://[2606:4700::1111]/",
  "https://xn--bcher-kva.example/",
])("a URL is allowed: %s", (url) => {
  expect(strict.refusalOf(url)).toBeUndefined();
});

test("settings allow http, and networks that are not public", () => {
  const open = createReceiverPolicy({ allowHttp: true, allowAddresses: ["10.0.0.0/8", "fd00::/8"] });
  expect(open.refusalOf("http://10.1.2.3/")).toBeUndefined();
  expect(open.refusalOf("http://10.1.2.3:80/")).toBeUndefined();
  expect(open.refusalOf("https://[fd00::1]/")).toBeUndefined();
  expect(open.refusalOf("https://receiver/")).toBeUndefined();
  expect(open.refusalOf("https://127.0.0.1/")).toBe("name a host on the public internet");
  expect(open.allowsAddress("192.168.0.1")).toBe(false);
  expect(open.allowsAddress("fe80::1%eth0")).toBe(false);
  expect(open.allowsAddress("nonsense")).toBe(false);
});
