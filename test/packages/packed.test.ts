import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";
import { filesOf, freshFolder, withTools } from "./fresh-folder.js";
import { root, workspacePackages } from "./workspace-packages.js";

const run = promisify(execFile);
const MAKING_MS = 300_000;
let folder: string;

beforeAll(async () => {
  folder = await freshFolder();
}, MAKING_MS);

describe.each(workspacePackages)("$name, packed and installed in an empty folder,", (each) => {
  const source = join(root, "packages", each.folder);

  test("has its documents, the targets of its exports, and no tests", async () => {
    const files = await filesOf(each);
    const targets = Object.values(each.entries).flatMap((entry) => Object.values(entry));
    const documents = ["CHANGELOG.md", "LICENSE", "README.md", "package.json"];
    expect(files).toEqual(expect.arrayContaining([...documents, ...targets.map((path) => path.replace("./", ""))]));
    expect(files.filter((path) => /^test\/|\.test\.|tsbuildinfo$/.test(path))).toEqual([]);
    expect(readFileSync(join(source, "LICENSE"), "utf8")).toBe(readFileSync(join(root, "LICENSE"), "utf8"));
  });

  test("depends on nothing but its peers, and is compiled before it is packed", () => {
    const { dependencies, peerDependencies, scripts } = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
    expect([dependencies, Object.keys(peerDependencies).toSorted()]).toEqual([
      undefined,
      ["@bufbuild/protobuf", "@connectrpc/connect"],
    ]);
    expect(scripts.prepack).toContain("build:packages");
  });

  test.each(Object.keys(each.entries))("can be imported as %s", async (entry) => {
    const program = `console.log(Object.keys(await import(${JSON.stringify(join(each.name, entry))})).length)`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], { cwd: folder });
    expect(Number(stdout)).toBeGreaterThan(0);
  });

  test.runIf(existsSync(join(source, "test/packed")))("runs its program", async () => {
    const program = join(folder, "built/programs", each.folder, "packed/main.js");
    const { stdout } = await run(process.execPath, [program], { env: withTools() });
    await expect(stdout).toMatchFileSnapshot(join(source, "test/packed/printed.txt"));
  });
});

describe("the README of connect-rest", () => {
  const readme = readFileSync(join(root, "packages/connect-rest/README.md"), "utf8");
  const [, server = ""] = /^```ts src\/server\.ts\n([^]*?)^```$/m.exec(readme) ?? [];
  const calls = Array.from(readme.matchAll(/^curl (.*)\n# (.*)$/gm), ([, args = "", answer = ""]) => ({
    args,
    answer,
  }));

  test("shows a server of fifteen lines and three calls", () => {
    expect(server.trim().split("\n")).toHaveLength(15);
    expect(calls).toHaveLength(3);
  });

  test("shows a server that answers its calls as it says", async () => {
    const origin = await startServer(join(folder, "built/readme/src/server.js"));
    for (const { args, answer } of calls) {
      const { url, ...init } = requestOf(args);
      const response = await fetch(url.replace("http://127.0.0.1:8080", origin), init);
      expect(await response.text()).toBe(answer);
    }
  });
});

/** Starts the server of the README at a free port instead of its own. Returns its origin. */
async function startServer(program: string): Promise<string> {
  const port = await freePort();
  const started = readFileSync(program, "utf8").replace("listen(8080)", `listen(${port}, "127.0.0.1")`);
  const child = spawn(process.execPath, ["--input-type=module", "--eval", started], {
    cwd: join(program, ".."),
    stdio: ["ignore", "ignore", "inherit"],
  });
  onTestFinished(() => void child.kill());
  const origin = `http://127.0.0.1:${port}`;
  await eventually(() =>
    fetch(origin).then(
      () => true,
      () => false,
    ),
  );
  return origin;
}

/** Reads the arguments of curl that the README uses. */
function requestOf(args: string) {
  const [, body] = /-d '([^']*)'/.exec(args) ?? [];
  const [, type] = /-H 'Content-Type: ([^']*)'/.exec(args) ?? [];
  const [url = ""] = /http:\S+$/.exec(args) ?? [];
  if (body === undefined) return { url };
  return { url, method: "POST", body, headers: { "content-type": type ?? "application/x-www-form-urlencoded" } };
}
