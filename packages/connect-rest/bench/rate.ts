/**
 * `npm run bench -w packages/connect-rest`: how many books a server creates in a second, over HTTP/1.1 with kept
 * connections. The servers take turns, each in a process of its own. Prints the median of each, and its ratio to
 * connect-node. BENCH_ROUNDS and BENCH_SECONDS set rounds (7) and seconds of a turn (3).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { type Contestant, PATHS } from "./contestants.js";

const ROUNDS = Number(process.env["BENCH_ROUNDS"] || 7);
const SECONDS = Number(process.env["BENCH_SECONDS"] || 3);
const CONNECTIONS = 16;
const REFERENCE: Contestant = "connect-node, JSON";
const book = {
  title: "Cien años de soledad",
  genre: "NOVEL",
  tags: ["novela", "Macondo"],
  author: { fullName: "Gabriel García Márquez", addresses: [{ city: "Aracataca" }, { city: "Bogotá" }] },
  pages: 471,
  publishedAt: "1967-05-30T00:00:00Z",
};

interface Server {
  readonly contestant: Contestant;
  readonly process: ChildProcess;
  readonly port: number;
}

const servers = await Promise.all((Object.keys(PATHS) as Contestant[]).map(start));
try {
  const rates = new Map(servers.map(({ contestant }) => [contestant, [] as number[]]));
  for (const server of servers) await rateOf(server, SECONDS);
  for (let round = 0; round < ROUNDS; round++) {
    for (const server of servers) rates.get(server.contestant)?.push(await rateOf(server, SECONDS));
  }
  console.log(tableOf(rates));
} finally {
  for (const server of servers) server.process.kill();
}

async function start(contestant: Contestant): Promise<Server> {
  const program = fileURLToPath(new URL("contestants.js", import.meta.url));
  const child = spawn(process.execPath, [program, contestant], { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = await once(child.stdout, "data");
  return { contestant, process: child, port: Number(String(port)) };
}

async function rateOf({ contestant, port }: Server, seconds: number): Promise<number> {
  const sent = contestant === REFERENCE ? { shelf: "a", book } : book;
  const body = JSON.stringify(sent);
  const head = `POST ${PATHS[contestant]} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;
  const request = `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const endsAt = performance.now() + seconds * 1_000;
  const counts = await Promise.all(Array.from({ length: CONNECTIONS }, () => answersUntil(endsAt, port, request)));
  return counts.reduce((sum, count) => sum + count) / seconds;
}

/** Sends the request over one connection, again after each answer, and returns the number of answers. */
function answersUntil(endsAt: number, port: number, request: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let count = 0;
    let received = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    socket.setNoDelay(true).setEncoding("latin1");
    socket.on("error", reject);
    socket.on("close", () => resolve(count));
    socket.on("data", (text) => {
      received += text;
      const headEnd = received.indexOf("\r\n\r\n");
      const length = /content-length: *(\d+)/i.exec(received)?.[1];
      if (headEnd < 0 || length === undefined || received.length < headEnd + 4 + Number(length)) return;
      const succeeded = received.startsWith("HTTP/1.1 200");
      const answer = received;
      received = "";
      count += 1;
      if (!succeeded) socket.destroy(new Error(answer));
      else if (performance.now() < endsAt) socket.write(request);
      else socket.end();
    });
  });
}

function tableOf(rates: ReadonlyMap<Contestant, readonly number[]>): string {
  const reference = rates.get(REFERENCE) ?? [];
  const rows = Array.from(rates, ([contestant, own]) => {
    const ratio = median(own.map((rate, round) => rate / (reference[round] ?? Number.NaN)));
    return `| ${contestant} | ${Math.round(median(own))} | ${ratio.toFixed(2)} |`;
  });
  return ["| server | books a second | of connect-node |", "|---|---|---|", ...rows].join("\n");
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
