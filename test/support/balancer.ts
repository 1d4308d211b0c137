import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";

/** A replica, as whoever spreads requests knows it. */
export interface Replica {
  readonly publicUrl: string;
  readonly internalUrl: string;
}

/** A load balancer: connections go to the replicas that are ready, one after the other, and stay there. */
export interface Balancer {
  readonly publicUrl: string;
  readonly internalUrl: string;
  add(replica: Replica): void;
  /** Resolves when a replica is ready. */
  isReady(replica: Replica): boolean;
  remove(replica: Replica): void;
  close(): void;
}

const PROBE_EVERY_MS = 50;

/** Starts a balancer without replicas, which asks each one often whether it is ready. */
export async function startBalancer(): Promise<Balancer> {
  const replicas = new Map<Replica, boolean>();
  let turn = 0;
  const next = (): Replica | undefined => {
    const ready = [...replicas].filter(([, isReady]) => isReady).map(([replica]) => replica);
    turn += 1;
    return ready[turn % ready.length];
  };
  const probe = async (replica: Replica) => {
    const answer = await fetch(`${replica.internalUrl}/readyz`).catch(() => undefined);
    if (replicas.has(replica)) replicas.set(replica, answer?.status === 200);
  };
  const timer = setInterval(() => {
    for (const replica of replicas.keys()) void probe(replica);
  }, PROBE_EVERY_MS);
  const servers = [relay(() => next()?.publicUrl), relay(() => next()?.internalUrl)] as const;
  const [publicUrl, internalUrl] = await Promise.all([listening(servers[0]), listening(servers[1])]);
  return {
    publicUrl,
    internalUrl,
    add: (replica) => void replicas.set(replica, false),
    isReady: (replica) => replicas.get(replica) === true,
    remove: (replica) => void replicas.delete(replica),
    close() {
      clearInterval(timer);
      for (const server of servers) server.close();
    },
  };
}

function relay(targetOf: () => string | undefined): Server {
  return createServer((client) => {
    const target = targetOf();
    if (target === undefined) {
      client.destroy();
      return;
    }
    const { hostname, port } = new URL(target);
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.setNoDelay(true);
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
      from.pipe(to);
    }
  });
}

async function listening(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
