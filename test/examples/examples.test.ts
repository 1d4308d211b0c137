import { execFile, execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withDocumentedIds } from "../../src/demo/documented-ids.js";
import { fillDemo } from "../../src/demo/fill-demo.js";
import { DEMO_TENANT_ID } from "../../src/demo/large-clinic.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { createFlaky } from "./flaky.js";

/** An example, and what it needs beside Node.js. */
interface Example {
  readonly name: string;
  /** A script of sh that ends with 0 where there is all that it needs. */
  readonly probe: string;
  readonly packages: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const EXAMPLE_MS = 240_000;
const PYTHON = "/usr/bin/python3";
const examples: readonly Example[] = [
  { name: "typescript-connect", probe: "true", packages: "Node.js alone" },
  {
    name: "python-grpc",
    probe: `command -v protoc && command -v grpc_python_plugin && ${PYTHON} -c 'import grpc, google.protobuf'`,
    packages: "protobuf-compiler protobuf-compiler-grpc python3-protobuf python3-grpcio",
  },
  { name: "curl", probe: "command -v curl", packages: "curl" },
  { name: "buf-curl", probe: "true", packages: "Node.js alone" },
  { name: "typescript-openapi", probe: "true", packages: "Node.js alone" },
  {
    name: "go-grpc",
    probe: `command -v protoc-gen-go && command -v protoc-gen-go-grpc && command -v go &&
      test -d /usr/share/gocode/src/google.golang.org/grpc &&
      grep google.golang.org/protobuf /usr/share/gocode/src/github.com/golang/protobuf/go.mod`,
    packages:
      "golang-go golang-google-grpc-dev golang-google-protobuf-dev golang-github-golang-protobuf-1-5-dev protoc-gen-go protoc-gen-go-grpc",
  },
  {
    name: "ruby-grpc",
    probe: "command -v protoc && command -v grpc_ruby_plugin && ruby -e 'require \"grpc\"'",
    packages: "protobuf-compiler protobuf-compiler-grpc ruby-grpc",
  },
];

const flaky = createFlaky(new Set(examples.map(({ name }) => name)));
let service: TestService;

beforeAll(async () => {
  const served: typeof flaky.served = (entry) => flaky.served(withDocumentedIds(entry));
  service = await startTestService({}, { served, now: Date.now });
  const issuer = { sign: (request: TokenFor) => tokenNow(request.client ?? "", request.tenantId) };
  const { internalUrl } = service;
  const signal = new AbortController().signal;
  await fillDemo({ internalUrl, issuer, now: Date.now, signal, onProgress: () => undefined });
}, EXAMPLE_MS);

afterAll(async () => {
  await service.close();
  rmSync(join(root, "build/examples"), { recursive: true, force: true });
});

describe("an example", () => {
  for (const { name, probe, packages } of examples) {
    test.skipIf(!succeeds(probe))(
      `${name} registers, books and reschedules, and sends what failed again with its key (needs ${packages})`,
      async () => {
        const printed = await run(name);
        expect(printed).toMatch(/^registered [\da-f-]{36}\nbooked [\da-f-]{36} at \S+\nmoved to \S+, version 2\n$/);
        const calls = flaky.callsOf(name);
        const operations = calls.map((call) => call.split(" ")[0]);
        const once = ["RegisterPatient", "BookAppointment", "RescheduleAppointment"];
        expect(operations).toEqual(once.flatMap((operation) => [operation, operation]));
        expect(new Set(calls).size).toBe(3);
      },
      EXAMPLE_MS,
    );
  }

  test("of each folder is one that is run here, and is listed", () => {
    const folders = readdirSync(join(root, "examples"), { withFileTypes: true }).filter((each) => each.isDirectory());
    expect(folders.map(({ name }) => name).toSorted()).toEqual(examples.map(({ name }) => name).toSorted());
    const readme = readFileSync(join(root, "examples/README.md"), "utf8");
    for (const { name } of examples) expect(readme).toContain(`| \`${name}\` |`);
  });
});

/** Runs the command of an example's README, at the service under test and with a token of the example's own. */
async function run(name: string): Promise<string> {
  const readme = readFileSync(join(root, `examples/${name}/README.md`), "utf8");
  const [, command = ""] = /^```sh\n(.*?)^```$/ms.exec(readme) ?? [];
  const env = {
    ...process.env,
    PATH: [join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter),
    PYTHON,
    CUPO_PUBLIC: service.baseUrl,
    CUPO_INTERNAL: service.internalUrl,
  };
  const script = `npm() { echo ${await tokenNow(name, DEMO_TENANT_ID)}; }\n${command}`;
  const { stdout } = await promisify(execFile)("sh", ["-euc", script], { cwd: root, env });
  return stdout;
}

/** A token of now: the programs ask for days from now on, so the service has the machine's clock too. */
function tokenNow(client: string, tenantId: string | undefined): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  return service.forgeToken({ client_id: client, sub: client, tenant_id: tenantId, iat: now, exp: now + 3_600 });
}

function succeeds(script: string): boolean {
  try {
    execFileSync("sh", ["-c", script], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
