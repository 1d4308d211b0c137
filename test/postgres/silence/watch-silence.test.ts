import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { TcpAddress } from "../../../src/postgres/silence/knock.js";
import { SilenceWatch } from "../../../src/postgres/silence/watch-silence.js";
import { eventually } from "../../support/eventually.js";

/** How often nothing happens before it is taken for what happens. */
const ROUNDS = 20;
const HOME = { host: "database.example.org", port: 5432 };

let wires: Wire[];
let watch: SilenceWatch;

beforeEach(() => {
  wires = [];
});

afterEach(() => {
  watch.close();
  for (const wire of wires) wire.close();
});

test("where nobody answers, what waits is broken, and nothing is to be had until the home of the database answers", async () => {
  let [isBack, isAway] = [false, false];
  const { told, asked } = open((address) => !isAway || (address === HOME && isBack));
  const lost = [await use(), await use()].map(({ near }) => once(near, "error"));
  isAway = true;
  for (const error of await Promise.all(lost))
    expect(error).toEqual([expect.objectContaining({ message: "Query read timeout" })]);
  expect([watch.isSilent, told]).toEqual([true, [true]]);
  await eventually(() => asked.at(-1) === HOME);
  isBack = true;
  await eventually(() => !watch.isSilent);
  expect(told).toEqual([true, false]);
  expect(asked[0]).toEqual({ host: "127.0.0.1", port: wires[0]?.port });
});

test("a database that is slow is heard, as long as somebody answers", async () => {
  const { told, asked } = open(() => true);
  await use();
  await eventually(() => asked.length >= ROUNDS);
  expect([watch.isSilent, told, wires[0]?.near.destroyed]).toEqual([false, [], false]);
});

test("one question that is not answered says nothing", async () => {
  const { told, asked } = open((_, count) => count % 2 === 0);
  await use();
  await eventually(() => asked.length >= ROUNDS);
  expect([watch.isSilent, told]).toEqual([false, []]);
});

test("nor do two, where something comes over any of the connections meanwhile", async () => {
  const { told, asked } = open(async () => {
    const [talking] = wires;
    talking?.far.write("x");
    if (talking !== undefined) await once(talking.near, "data");
    return false;
  });
  await use();
  await use();
  await eventually(() => asked.length >= ROUNDS);
  expect([watch.isSilent, told]).toEqual([false, []]);
});

test("nobody is asked while nobody waits", async () => {
  const { asked, rounds } = open(() => false);
  const { near } = await use();
  watch.end(near);
  await eventually(() => rounds() > 0);
  await setImmediate();
  expect([watch.isSilent, asked, near.destroyed]).toEqual([false, [], false]);
});

/** Opens the watch with those whom it asks in place of the network; `told` is what it told of. */
function open(answer: (address: TcpAddress, count: number) => boolean | Promise<boolean>) {
  const told: boolean[] = [];
  const asked: TcpAddress[] = [];
  let rounds = 0;
  watch = new SilenceWatch({
    home: HOME,
    onSilent: (isSilent) => void told.push(isSilent),
    isHeard: async (address) => answer(address, asked.push(address)),
    pause: () => {
      rounds += 1;
      return setImmediate();
    },
  });
  return { told, asked, rounds: () => rounds };
}

/** A connection with both its ends. */
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
  watch.begin(near);
  return wire;
}
