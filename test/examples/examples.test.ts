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

/** An example and its requirements in addition to Node.js. */
interface Example {
  readonly name: string;
  /** A shell script that exits with 0 if all requirements are met. */
  readonly probe: string;
  readonly packages: string;
  /** Whether it reads and cancels the appointment too. */
  readonly cancels?: boolean;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const EXAMPLE_MS = 240_000;
const examples: readonly Example[] = [
  { name: "typescript-connect", probe: "true", packages: "Node.js alone" },
  {
    name: "python-grpc",
    probe: "command -v protoc && command -v grpc_python_plugin && /usr/bin/python3 -c 'import grpc, google.protobuf'",
    packages: "protobuf-compiler protobuf-compiler-grpc python3-protobuf python3-grpcio",
  },
  { name: "python-openapi", probe: "python3 -c 'str.removesuffix'", packages: "python3", cancels: true },
  { name: "curl", probe: "command -v curl", packages: "curl", cancels: true },
  { name: "buf-curl", probe: "true", packages: "Node.js alone" },
  { name: "typescript-openapi", probe: "true", packages: "Node.js alone", cancels: true },
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

/** PATH without node_modules/.bin, which npm adds for the tests and a user's shell does not have. */
const userPath = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((folder) => !folder.endsWith(join("node_modules", ".bin")))
  .join(delimiter);
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
  for (const { name, probe, packages, cancels = false } of examples) {
    test.skipIf(!succeeds(probe))(
      `${name} registers, books and reschedules, and retries failures with the same key (needs ${packages})`,
      async () => {
        const printed = await run(name);
        const [, cancelled] =
          /^registered [\da-f-]{36}\nbooked [\da-f-]{36} at \S+\nmoved to \S+, version 2\n(.*)$/s.exec(printed) ?? [];
        expect(cancelled).toBe(cancels ? "CANCELLED, version 3\n" : "");
        const calls = flaky.callsOf(name);
        const operations = calls.map((call) => call.split(" ")[0]);
        const moving = ["RegisterPatient", "BookAppointment", "RescheduleAppointment"];
        const once = cancels ? [...moving, "CancelAppointment"] : moving;
        expect(operations).toEqual(once.flatMap((operation) => [operation, operation]));
        expect(new Set(calls).size).toBe(once.length);
      },
      EXAMPLE_MS,
    );
  }

  test("exists for each folder of examples/, and is listed there", () => {
    const folders = readdirSync(join(root, "examples"), { withFileTypes: true }).filter((each) => each.isDirectory());
    expect(folders.map(({ name }) => name).toSorted()).toEqual(examples.map(({ name }) => name).toSorted());
    const readme = readFileSync(join(root, "examples/README.md"), "utf8");
    for (const { name } of examples) expect(readme).toContain(`| \`${name}\` |`);
  });
});

/**
 * Runs the command of an example's README as a user would, with the URLs of the service under test and a token for the
 * example.
 */
async function run(name: string): Promise<string> {
  const readme = readFileSync(join(root, `examples/${name}/README.md`), "utf8");
  const [, command = ""] = /^```sh\n(.*?)^```$/ms.exec(readme) ?? [];
  const env = {
    ...process.env,
    PATH: userPath,
    CUPO_PUBLIC: service.baseUrl,
    CUPO_INTERNAL: service.internalUrl,
  };
  const script = `npm() { echo ${await tokenNow(name, DEMO_TENANT_ID)}; }\n${command}`;
  const { stdout } = await promisify(execFile)("sh", ["-euc", script], { cwd: root, env });
  return stdout;
}

/**
 * Returns a token for the machine's current time. The programs request days from now on, so the service uses the
 * machine's clock too.
 */
function tokenNow(client: string, tenantId: string | undefined): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  return service.forgeToken({ client_id: client, sub: client, tenant_id: tenantId, iat: now, exp: now + 3_600 });
}

function succeeds(script: string): boolean {
  try {
    execFileSync("sh", ["-c", script], { stdio: "ignore", env: { ...process.env, PATH: userPath } });
    return true;
  } catch {
    return false;
  }
}
