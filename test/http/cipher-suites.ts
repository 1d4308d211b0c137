import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, getCiphers } from "node:tls";
import type { testTls } from "./start-listener.js";

const sharedKey = Buffer.alloc(32, 1);
/** OpenSSL's names of all its cipher suites of TLS 1.2, including those that its default list leaves out. */
const ALL = ["ALL", "COMPLEMENTOFALL"];

/**
 * Returns the names of the cipher suites that Node.js can negotiate with a certificate of `identities` or with a shared
 * key. It can negotiate none of those for DSS certificates or SRP. Node.js does not list the suites that OpenSSL's
 * default list leaves out. So a client that offers all suites connects to a server that accepts all. It then omits the
 * negotiated suite and connects again, until the handshake fails.
 */
export async function cipherSuites(identities: readonly (typeof testTls)[]): Promise<string[]> {
  const listed = getCiphers().map((name) => name.toUpperCase());
  const found = await Promise.all(identities.map(negotiable));
  return [...new Set([...listed.filter(isOfTls13), ...found.flat()])];
}

/**
 * Offers these cipher suites, all of TLS 1.3 or all of TLS 1.2, to a server on this port. Returns the suite that the
 * server chooses; undefined if it refuses all of them.
 */
export async function negotiate(port: number, suites: readonly string[]): Promise<string | undefined> {
  const offered = suites.every(isOfTls13)
    ? ({ ciphers: suites.join(":"), minVersion: "TLSv1.3" } as const)
    : ({ ciphers: unrestricted(suites), maxVersion: "TLSv1.2" } as const);
  const client = connect({
    port,
    host: "127.0.0.1",
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
    pskCallback: () => ({ identity: "client", psk: sharedKey }),
    ...offered,
  });
  try {
    await once(client, "secureConnect");
    return client.getCipher().name;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code?.endsWith("_ALERT_HANDSHAKE_FAILURE")) return undefined;
    throw error;
  } finally {
    client.destroy();
  }
}

async function negotiable(identity: typeof testTls): Promise<string[]> {
  const ciphers = unrestricted(ALL);
  const sharing = { pskCallback: () => sharedKey, pskIdentityHint: "server" };
  const server = createServer({ ...identity, ...sharing, ciphers, maxVersion: "TLSv1.2", dhparam: "auto" });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const found: string[] = [];
  for (;;) {
    const name = await negotiate(port, [...ALL, ...found.map((each) => `!${each}`)]);
    if (name === undefined) break;
    found.push(name);
  }
  server.close();
  return found;
}

/** Returns OpenSSL's text of a list of suites, in which its security level removes none. */
function unrestricted(suites: readonly string[]): string {
  return [...suites, "@SECLEVEL=0"].join(":");
}

function isOfTls13(suite: string): boolean {
  return suite.startsWith("TLS_");
}
