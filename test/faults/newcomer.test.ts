import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtProgram } from "../support/built-program.js";
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

test("starts without a database and settings, and prints a command that works unchanged", async () => {
  const first = await compiled.start({ CUPO_DATA_DIR: dataDir, LOG_FORMAT: "text" });
  const line = await printedLine(first);
  expect(line).toContain(first.baseUrl);
  expect(first.lines.filter((printed) => / INFO: \d{3} /.test(printed))).toEqual([]);
  const registered = await run(line);
  expect(registered).toMatch(/^HTTP\/1\.1 201 /);
  expect(await first.stop()).toBe(0);

  const second = await compiled.start({ CUPO_DATA_DIR: dataDir, LOG_FORMAT: "text" });
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

/**
 * Runs the printed command and returns its output, with the program in place of `npm run token`. Without a shell or
 * curl it sends the command's request itself.
 */
async function run(printed: string): Promise<string> {
  const program = join(await builtProgram(), "dist/main.js");
  const env = { ...process.env, CUPO_DATA_DIR: dataDir };
  const { stdout: token } = await promisify(execFile)(process.execPath, [program, "token"], { env });
  const line = printed.replace("$(npm run --silent token)", token.trim());
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
    Array.from(line.matchAll(new RegExp(`${flag} (['"])(.*?)\\1`, "g")), ([, , text]) => `${text}`);
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
