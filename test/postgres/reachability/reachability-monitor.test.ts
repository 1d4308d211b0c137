import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ReachabilityMonitor } from "../../../src/postgres/reachability/reachability-monitor.js";
import type { TcpAddress } from "../../../src/postgres/reachability/tcp-probe.js";
import { eventually } from "../../support/eventually.js";

/** Rounds without an event after which a test concludes that there is none. */
const ROUNDS = 20;
const HOME = { host: "database.example.org", port: 5432 };

let wires: Wire[];
let monitor: ReachabilityMonitor;

beforeEach(() => {
  wires = [];
});

afterEach(() => {
  monitor.close();
  for (const wire of wires) wire.close();
});

test("if no probe is answered, pending queries fail and the database is unreachable until its own address answers", async () => {
  let [isBack, isAway] = [false, false];
  const { notified, asked } = open((address) => !isAway || (address === HOME && isBack));
  const lost = [await use(), await use()].map(({ near }) => once(near, "error"));
  isAway = true;
  for (const error of await Promise.all(lost))
    expect(error).toEqual([expect.objectContaining({ message: "Query read timeout" })]);
  expect([monitor.isUnreachable, notified]).toEqual([true, [true]]);
  await eventually(() => asked.at(-1) === HOME);
  isBack = true;
  await eventually(() => !monitor.isUnreachable);
  expect(notified).toEqual([true, false]);
  expect(asked[0]).toEqual({ host: "127.0.0.1", port: wires[0]?.port });
});

test("a slow database stays reachable as long as probes are answered", async () => {
  const { notified, asked } = open(() => true);
  await use();
  await eventually(() => asked.length >= ROUNDS);
  expect([monitor.isUnreachable, notified, wires[0]?.near.destroyed]).toEqual([false, [], false]);
});

test("one unanswered probe has no effect", async () => {
  const { notified, asked } = open((_, count) => count % 2 === 0);
  await use();
  await eventually(() => asked.length >= ROUNDS);
  expect([monitor.isUnreachable, notified]).toEqual([false, []]);
});

test("two unanswered probes have no effect if bytes arrive on any connection meanwhile", async () => {
  const { notified, asked } = open(async () => {
    const [talking] = wires;
    talking?.far.write("x");
    if (talking !== undefined) await once(talking.near, "data");
    return false;
  });
  await use();
  await use();
  await eventually(() => asked.length >= ROUNDS);
  expect([monitor.isUnreachable, notified]).toEqual([false, []]);
});

test("nothing is probed while no query is pending", async () => {
  const { asked, rounds } = open(() => false);
  const { near } = await use();
  monitor.end(near);
  await eventually(() => rounds() > 0);
  await setImmediate();
  expect([monitor.isUnreachable, asked, near.destroyed]).toEqual([false, [], false]);
});

/**
 * Opens the monitor with `answer` in place of the network. `notified` records its notifications, `asked` the probed
 * addresses.
 */
function open(answer: (address: TcpAddress, count: number) => boolean | Promise<boolean>) {
  const notified: boolean[] = [];
  const asked: TcpAddress[] = [];
  let rounds = 0;
  monitor = new ReachabilityMonitor({
    address: HOME,
    onUnreachable: (isUnreachable) => void notified.push(isUnreachable),
    probe: async (address) => answer(address, asked.push(address)),
    pause: () => {
      rounds += 1;
      return setImmediate();
    },
  });
  return { notified, asked, rounds: () => rounds };
}

/** A TCP connection with both its ends. */
interface Wire {
  readonly near: Socket;
  readonly far: Socket;
  readonly port: number;
  close(): void;
}

async function use(): Promise<Wire> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const near = connect(port, "127.0.0.1");
  const [[far]] = (await Promise.all([once(server, "connection"), once(near, "connect")])) as [[Socket], unknown];
  const close = () => {
    for (const end of [near, far]) end.destroy();
    server.close();
  };
  near.on("error", () => undefined).on("data", () => undefined);
  const wire = { near, far, port, close };
  wires.push(wire);
  monitor.begin(near);
  return wire;
}
