import { BlockList, isIP } from "node:net";
import { isPublicAddress } from "./blocked-addresses.js";

/** Decides to which receivers events may be sent. */
export interface ReceiverPolicy {
  /**
   * Returns undefined if events may be sent to a URL. Otherwise returns the end of the message "the URL must …". Does
   * not resolve host names: {@link ReceiverPolicy.allowsAddress} checks their addresses.
   */
  refusalOf(url: string): string | undefined;
  /** Whether connections to an address are allowed. */
  allowsAddress(address: string): boolean;
}

/** The settings of a {@link ReceiverPolicy}. */
export interface ReceiverSettings {
  /** Whether http is allowed in addition to https. */
  readonly allowHttp: boolean;
  /**
   * Networks in CIDR notation that are allowed although they are not public. If the list is not empty, names of hosts
   * in local networks are allowed too.
   */
  readonly allowAddresses: readonly string[];
}

const HTTPS_PORT = 443;
const HTTP_PORT = 80;
/** The lowest allowed port other than 443 and 80. Lower ports belong to other protocols, such as mail and SSH. */
const FIRST_USER_PORT = 1_024;
/** Host names that no public DNS has: names without a dot, and names for local networks (RFC 6761, RFC 6762). */
const LOCAL_NAME = /^[^.]*$|(^|\.)(localhost|local|internal|home\.arpa)$/;

/**
 * Creates a {@link ReceiverPolicy}. It allows https to public addresses, at port 443 or a port from 1024. The settings
 * can also allow other networks, names of hosts in local networks, and http. With http, port 80 is allowed too.
 *
 * A URL must have no user, password or fragment. Before the check, the URL parser of Node.js turns decimal, octal and
 * hexadecimal addresses into the usual form, for example 2130706433 into 127.0.0.1.
 */
export function createReceiverPolicy({ allowHttp, allowAddresses }: ReceiverSettings): ReceiverPolicy {
  const allowed = networksOf(allowAddresses);
  const allowsAddress = (address: string) => isPublicAddress(address) || isIn(allowed, address);
  return {
    allowsAddress,
    refusalOf(text) {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      if (url === undefined) return "be an absolute https URL";
      if (url.protocol !== "https:" && !(allowHttp && url.protocol === "http:")) return "begin with https://";
      if (url.username !== "" || url.password !== "") return "have no user and no password";
      if (url.hash !== "") return "have no fragment";
      if (!isPortAllowed(url)) return `have the port ${HTTPS_PORT} or a port from ${FIRST_USER_PORT}`;
      const host = hostOf(url);
      const isRefused = isIP(host) > 0 ? !allowsAddress(host) : LOCAL_NAME.test(host) && allowAddresses.length === 0;
      return isRefused ? "name a host on the public internet" : undefined;
    },
  };
}

/** Returns the host of a URL: an address without brackets, or a name in lower case without a dot at the end. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

function isPortAllowed({ port, protocol }: URL): boolean {
  if (port === "") return true;
  const number = Number(port);
  return number >= FIRST_USER_PORT || number === HTTPS_PORT || (protocol === "http:" && number === HTTP_PORT);
}

function networksOf(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [address = "", bits = ""] = text.split("/");
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return list;
}

function isIn(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family > 0 && !address.includes("%") && list.check(address, family === 6 ? "ipv6" : "ipv4");
}
