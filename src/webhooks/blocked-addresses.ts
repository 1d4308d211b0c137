import { BlockList, isIP } from "node:net";

/**
 * Networks of IPv4 that are not on the public internet (IANA IPv4 Special-Purpose Address Registry): "this network",
 * private, carrier-grade NAT, loopback, link-local with the metadata services of clouds, protocol assignments,
 * documentation, 6to4 relays, benchmarks, multicast and reserved.
 */
const BLOCKED_IPV4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const;

/** The IPv6 networks that contain all hosts of the public internet (RFC 4291 section 2.4). */
const GLOBAL_IPV6 = [["2000::", 3]] as const;

/**
 * Networks within {@link GLOBAL_IPV6} that are not on the public internet, or that contain IPv4 addresses: protocol
 * assignments with Teredo, documentation, 6to4. Mapped addresses, NAT64 and unique local addresses are outside
 * {@link GLOBAL_IPV6}.
 */
const BLOCKED_IPV6 = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const;

const blocked = blockListOf(BLOCKED_IPV4, "ipv4");
for (const [address, bits] of BLOCKED_IPV6) blocked.addSubnet(address, bits, "ipv6");
const global = blockListOf(GLOBAL_IPV6, "ipv6");

/** Whether an address belongs to a host of the public internet. Returns false for a text that is not an address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !blocked.check(address, "ipv4");
  return family === 6 && !address.includes("%") && global.check(address, "ipv6") && !blocked.check(address, "ipv6");
}

function blockListOf(networks: readonly (readonly [string, number])[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [address, bits] of networks) list.addSubnet(address, bits, family);
  return list;
}
