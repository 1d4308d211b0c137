import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CompiledService, compileService, type ServiceProcess } from "../support/service-process.js";
import { removeFolder, temporaryFolder } from "../support/temporary-folder.js";

let compiled: CompiledService;
let dataDir: string;

beforeAll(async () => {
  [compiled, dataDir] = await Promise.all([compileService(), temporaryFolder()]);
});

afterAll(async () => {
  compiled.stopAll();
  await removeFolder(dataDir);
});

test("a machine without a database and settings serves, and prints a line that works as it stands", async () => {
  const first = await compiled.start({ CUPO_DATA_DIR: dataDir });
  const line = await printedLine(first);
  expect(line).toContain(first.baseUrl);
  expect(first.lines.filter((printed) => printed.includes('"msg":"request"'))).toEqual([]);
  const registered = await run(line);
  expect(registered).toMatch(/^HTTP\/1\.1 201 /);
  expect(await first.stop()).toBe(0);

  const second = await compiled.start({ CUPO_DATA_DIR: dataDir });
  const replayed = await run(line.replaceAll(first.baseUrl, second.baseUrl));
  expect(replayed).toMatch(/^HTTP\/1\.1 201 /);
  expect(replayed).toMatch(/^Idempotent-Replayed: true\r$/im);
  expect(bodyOf(replayed)).toEqual(bodyOf(registered));
  expect(await run(await printedLine(second))).toMatch(/^HTTP\/1\.1 201 /);
  expect(await second.stop("SIGINT")).toBe(0);
});

async function printedLine({ lines, printed }: ServiceProcess): Promise<string> {
  await printed("curl ");
  return `${lines.find((line) => line.startsWith("curl "))}`;
}

/** What the line prints. Without a shell and curl its request is sent by other means. */
async function run(line: string): Promise<string> {
  return promisify(execFile)("sh", ["-c", line.replace("curl ", "curl --silent --show-error ")]).then(
    ({ stdout }) => stdout,
    (error: NodeJS.ErrnoException) => {
      if (Number(error.code) === 127 || error.code === "ENOENT") return fetchInstead(line);
      throw error;
    },
  );
}

async function fetchInstead(line: string): Promise<string> {
  const url = `${/http\S+/.exec(line)?.[0]}`;
  const quoted = (flag: string) =>
    Array.from(line.matchAll(new RegExp(`${flag} '([^']*)'`, "g")), ([, text]) => `${text}`);
  const headers = quoted("-H").map((header): [string, string] => {
    const [name = "", ...value] = header.split(": ");
    return [name, value.join(": ")];
  });
  const response = await fetch(url, { method: "POST", headers, body: quoted("-d").join("") });
  const head = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `HTTP/1.1 ${response.status} \r\n${head}\r\n${await response.text()}`;
}

function bodyOf(answer: string): unknown {
  return JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")));
}
