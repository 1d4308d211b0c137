import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { createReceiverPolicy } from "../../src/webhooks/receiver-policy.js";
import { openSender, type Sender } from "../../src/webhooks/send-event.js";
import { type Receiver, startReceiver } from "./receiver.js";

const TIMEOUT_MS = 300;
const loopback = createReceiverPolicy({ allowHttp: true, allowAddresses: ["127.0.0.0/8"] });
const running = new AbortController().signal;
const BODY = JSON.stringify({ eventId: "e", subject: "s" });

let sender: Sender | undefined;

afterEach(() => sender?.close());

describe("the host name of a receiver", () => {
  test("is resolved for each connection, and the checked address is the one that is used", async () => {
    const receiver = await openReceiver();
    const asked: string[] = [];
    const port = new URL(receiver.url).port;
    sender = openSender({
      policy: loopback,
      resolve: async (name) => {
        asked.push(name);
        return ["127.0.0.1"];
      },
    });
    expect(await send(`http://receiver.example:${port}/`)).toEqual({ status: 204 });
    expect(asked).toEqual(["receiver.example"]);
  });

  test.each([
    ["has a private address", ["10.0.0.1"]],
    ["has an allowed and a private address", ["127.0.0.1", "169.254.169.254"]],
    ["has a private IPv6 address", ["fd00:ec2::254"]],
    ["has no address", []],
  ])("is refused if it %s, and nothing arrives", async (_, addresses) => {
    const receiver = await openReceiver();
    sender = openSender({ policy: loopback, resolve: async () => addresses });
    const url = `http://receiver.example:${new URL(receiver.url).port}/`;
    expect(await send(url)).toEqual({ failure: "ADDRESS_REFUSED" });
    expect(receiver.arrived).toEqual([]);
  });

  test("that changes its address after the check (DNS rebinding) is refused at the next connection", async () => {
    const receiver = await openReceiver();
    const answers = [["127.0.0.1"], ["169.254.169.254"]];
    sender = openSender({ policy: loopback, resolve: async () => answers.shift() ?? [] });
    const url = `http://receiver.example:${new URL(receiver.url).port}/`;
    receiver.behave(() => 200);
    expect(await send(url)).toEqual({ status: 200 });
    sender.close();
    expect(await send(url)).toEqual({ failure: "ADDRESS_REFUSED" });
  });

  test("may have no entry in DNS", async () => {
    const missing = Object.assign(new Error("queryA ENOTFOUND"), { code: "ENOTFOUND" });
    sender = openSender({ policy: loopback, resolve: () => Promise.reject(missing) });
    expect(await send("http://receiver.example/")).toEqual({ failure: "NAME_NOT_RESOLVED" });
  });
});

test("an address in the URL is checked again before each connection", async () => {
  sender = openSender({ policy: createReceiverPolicy({ allowHttp: true, allowAddresses: [] }), resolve: noName });
  expect(await send("http://127.0.0.1:9/")).toEqual({ failure: "ADDRESS_REFUSED" });
});

test("a redirect is not followed", async () => {
  const receiver = await openReceiver();
  receiver.behave(() => 302);
  sender = openSender({ policy: loopback, resolve: noName });
  expect(await send(receiver.url)).toEqual({ status: 302 });
  expect(receiver.arrived).toHaveLength(1);
});

describe("a receiver that", () => {
  test("does not answer in time has timed out", async () => {
    const receiver = await openReceiver();
    receiver.behave(() => "STALL");
    sender = openSender({ policy: loopback, resolve: noName, timeoutMs: TIMEOUT_MS });
    expect(await send(receiver.url)).toEqual({ failure: "TIMED_OUT" });
  });

  test("breaks a reused connection late and then answers late has one time limit for both requests", async () => {
    const timeoutMs = 1_500;
    let connections = 0;
    let requests = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.on("error", () => undefined);
      socket.on("data", () => {
        requests += 1;
        if (requests === 1) socket.write("HTTP/1.1 204 No Content\r\n\r\n");
        else if (requests === 2) setTimeout(() => socket.destroy(), timeoutMs * 0.8);
        else setTimeout(() => socket.write("HTTP/1.1 204 No Content\r\n\r\n"), timeoutMs * 0.8);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    sender = openSender({ policy: loopback, resolve: noName, timeoutMs });
    expect(await send(url)).toEqual({ status: 204 });
    expect(await send(url)).toEqual({ failure: "TIMED_OUT" });
    expect([connections, requests]).toEqual([2, 3]);
  });

  test("is stalled when the process stops leaves no result", async () => {
    const receiver = await openReceiver();
    const stop = new AbortController();
    receiver.behave(() => {
      stop.abort();
      return "STALL";
    });
    sender = openSender({ policy: loopback, resolve: noName });
    expect(await sender.send(event(receiver.url), stop.signal)).toEqual({ failure: "STOPPED" });
    expect(await sender.send(event(receiver.url), stop.signal)).toEqual({ failure: "STOPPED" });
  });

  test("speaks another protocol has an invalid answer", async () => {
    const url = await rawReceiver("SSH-2.0-OpenSSH_9.6\r\n");
    sender = openSender({ policy: loopback, resolve: noName });
    expect(await send(url)).toEqual({ failure: "ANSWER_INVALID" });
  });

  test("switches to another protocol has an invalid answer", async () => {
    const url = await rawReceiver(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    sender = openSender({ policy: loopback, resolve: noName });
    expect(await send(url)).toEqual({ failure: "ANSWER_INVALID" });
  });

  test("has no TLS has failed TLS", async () => {
    const url = await rawReceiver("HTTP/1.1 400 Bad Request\r\n\r\n");
    sender = openSender({ policy: loopback, resolve: noName });
    expect(await send(url.replace("http:", "https:"))).toEqual({ failure: "TLS_FAILED" });
  });

  test("answers with headers without end has an invalid answer", async () => {
    const url = await rawReceiver(`HTTP/1.1 200 OK\r\n${`x: ${"y".repeat(1_000)}\r\n`.repeat(100)}`);
    sender = openSender({ policy: loopback, resolve: noName });
    expect(await send(url)).toEqual({ failure: "ANSWER_INVALID" });
  });

  test("answers with a body without end is disconnected, and its status counts", async () => {
    let isDisconnected = false;
    const url = await rawReceiver(
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${`3e8\r\n${"z".repeat(1_000)}\r\n`.repeat(60)}`,
      () => (isDisconnected = true),
    );
    sender = openSender({ policy: loopback, resolve: noName });
    expect(await send(url)).toEqual({ status: 200 });
    await expect.poll(() => isDisconnected).toBe(true);
  });
});

async function openReceiver(): Promise<Receiver> {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  return receiver;
}

/** Starts a server that answers each connection with these bytes. Returns its URL. */
async function rawReceiver(answer: string, onClosed: () => void = () => undefined): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("close", onClosed);
    socket.once("data", () => socket.write(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function send(url: string) {
  if (sender === undefined) throw new Error("no sender");
  return sender.send(event(url), running);
}

function event(url: string) {
  return { url, headers: { "content-type": "application/json" }, body: BODY };
}

function noName(): Promise<never> {
  return Promise.reject(new Error("no name is resolved here"));
}
