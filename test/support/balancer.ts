import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** The addresses of a replica. */
export interface Replica {
  readonly publicUrl: string;
  readonly internalUrl: string;
}

/** A TCP load balancer. It assigns connections to the ready replicas in turn. A connection stays with its replica. */
export interface Balancer {
  readonly publicUrl: string;
  readonly internalUrl: string;
  add(replica: Replica): void;
  /** Whether the last readiness probe succeeded and no connection has been refused since. */
  isReady(replica: Replica): boolean;
  /** Number of ready replicas. */
  readyCount(): number;
  remove(replica: Replica): void;
  close(): void;
}

const PROBE_EVERY_MS = 250;

/**
 * Starts a balancer without replicas. It probes `/readyz` of each replica every 250 ms.
 * - A replica that refuses a connection is not ready until a probe succeeds. The connection goes to the next replica.
 * - Connections wait while no replica is ready.
 */
export async function startBalancer(): Promise<Balancer> {
  const replicas = new Map<Replica, boolean>();
  const waiting: (() => void)[] = [];
  let turn = 0;
  const ready = () => [...replicas].filter(([, isReady]) => isReady).map(([replica]) => replica);
  const note = (replica: Replica, isReady: boolean) => {
    if (replicas.has(replica)) replicas.set(replica, isReady);
    if (ready().length > 0) for (const forwardNow of waiting.splice(0)) forwardNow();
  };
  const next = (): Replica | undefined => {
    const candidates = ready();
    turn += 1;
    return candidates[turn % candidates.length];
  };
  const asked = new Map<Replica, number>();
  const probe = async (replica: Replica) => {
    const startedAt = performance.now();
    const answer = await fetch(`${replica.internalUrl}/readyz`).catch(() => undefined);
    if (startedAt < (asked.get(replica) ?? 0)) return;
    asked.set(replica, startedAt);
    note(replica, answer?.status === 200);
  };
  const timer = setInterval(() => {
    for (const replica of replicas.keys()) void probe(replica);
  }, PROBE_EVERY_MS);
  const refused = (replica: Replica) => note(replica, false);
  const wait = (forwardNow: () => void) => void waiting.push(forwardNow);
  const servers = (["publicUrl", "internalUrl"] as const).map((url) => relay({ next, wait, refused, url }));
  const [publicUrl = "", internalUrl = ""] = await Promise.all(servers.map(listening));
  return {
    publicUrl,
    internalUrl,
    add: (replica) => void replicas.set(replica, false),
    isReady: (replica) => replicas.get(replica) === true,
    readyCount: () => ready().length,
    remove: (replica) => void replicas.delete(replica),
    close() {
      clearInterval(timer);
      for (const server of servers) server.close();
    },
  };
}

interface Way {
  readonly next: () => Replica | undefined;
  readonly wait: (forwardNow: () => void) => void;
  readonly refused: (replica: Replica) => void;
  readonly url: keyof Replica;
}

function relay(way: Way): Server {
  return createServer((client) => {
    client.on("error", () => client.destroy());
    forward(client, way);
  });
}

function forward(client: Socket, way: Way): void {
  if (client.destroyed) return;
  const replica = way.next();
  if (replica === undefined) {
    way.wait(() => forward(client, way));
    return;
  }
  const { hostname, port } = new URL(replica[way.url]);
  const upstream = connect(Number(port), hostname);
  const turnTo = () => {
    way.refused(replica);
    forward(client, way);
  };
  upstream.once("error", turnTo);
  upstream.once("connect", () => {
    upstream.off("error", turnTo);
    join(client, upstream);
  });
}

function join(client: Socket, upstream: Socket): void {
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    from.setNoDelay(true);
    from.on("error", () => to.destroy());
    from.on("close", () => {
      if (!from.readableEnded) to.destroy();
    });
    from.pipe(to);
  }
  if (client.destroyed) upstream.destroy();
}

async function listening(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
