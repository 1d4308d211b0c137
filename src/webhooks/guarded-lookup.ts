import { Resolver } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { callbackify } from "node:util";
import type { ReceiverPolicy } from "./receiver-policy.js";

/** Returns the addresses of a host name. Rejects if it has none. */
export type ResolveHost = (name: string) => Promise<readonly string[]>;

/** The error for a host name that has a forbidden address or no address. */
export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
  readonly code = "CUPO_ADDRESS_REFUSED";
}

const QUERY_MS = 2_000;
const TRIES = 2;

/**
 * Returns a resolver that asks DNS for IPv4 and IPv6 addresses. Unlike the lookup of the operating system, it does not
 * read /etc/hosts, and it blocks no thread while a server is slow.
 */
export function createDnsResolver(): ResolveHost {
  const resolver = new Resolver({ timeout: QUERY_MS, tries: TRIES });
  return async (name) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = [four, six].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (found.length > 0) return found;
    throw four.status === "rejected" ? four.reason : new Error("the host name has no address");
  };
}

/**
 * Returns a lookup for sockets that fails if a name has no address, or has one that is not allowed. The socket connects
 * to an address that was checked. So an attacker gains nothing by changing the addresses of a name (DNS rebinding).
 */
export function createGuardedLookup(
  policy: Pick<ReceiverPolicy, "allowsAddress">,
  resolve: ResolveHost,
): LookupFunction {
  const lookUp = callbackify((name: string) => checked(name, policy, resolve));
  return (name, { all = false }, callback) => {
    lookUp(name, (error, addresses) => {
      if (error) return callback(error, []);
      const found = addresses.map((address) => ({ address, family: isIP(address) }));
      const [first] = found;
      if (all) callback(null, found);
      else callback(null, first?.address ?? "", first?.family ?? 0);
    });
  };
}

async function checked(
  name: string,
  { allowsAddress }: Pick<ReceiverPolicy, "allowsAddress">,
  resolve: ResolveHost,
): Promise<readonly string[]> {
  const addresses = await resolve(name);
  if (addresses.length === 0 || !addresses.every(allowsAddress)) throw new AddressRefused("the address is not allowed");
  return addresses;
}
