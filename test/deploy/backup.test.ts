import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { examine } from "../../src/doctor/doctor.js";
import { freeBytes } from "../../src/doctor/free-bytes.js";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { keySetDocument, makeKey } from "../auth/token-fixtures.js";
import * as fixtures from "../contract/fixtures.js";
import { clockOf } from "../doctor/installation.js";
import { bookFirst, type Clinic, mustCall, openClinic } from "../schedule/clinic.js";
import { execute } from "../support/database.js";
import { type OwnPostgres, postgresPrograms, startOwnPostgres } from "../support/own-postgres.js";
import { registration } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";

const reason =
  postgresPrograms === undefined
    ? " (there is no pg_dump with a server of its version: Debian's package postgresql)"
    : "";
const PASSWORDS = {
  POSTGRES_PASSWORD: "one",
  CUPO_OWNER_PASSWORD: "two",
  CUPO_SERVICE_PASSWORD: "three",
  CUPO_BACKUP_PASSWORD: "four",
};
const KEY = "registered-before-the-backup";
const root = fileURLToPath(new URL("../..", import.meta.url));

describe.skipIf(postgresPrograms === undefined)(`a backup${reason}`, () => {
  let folder: string;
  let before: OwnPostgres;
  let after: OwnPostgres;
  let service: TestService;
  let clinic: Clinic;
  const patient = registration();
  let registered: RestAnswer;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "cupo-backup-"));
    [before, after] = await Promise.all([
      startOwnPostgres(`${postgresPrograms}`),
      startOwnPostgres(`${postgresPrograms}`),
    ]);
    await run("deploy/compose/create-roles.sh", [], connectionTo(before));
    await migrate({ url: ownerUrlOf(before), serviceUrl: serviceUrlOf(before) });
    service = await startTestService({ DATABASE_URL: serviceUrlOf(before) });
    clinic = await openClinic(service);
    await bookFirst(clinic, await fixtures.patient.create(service, {}));
    registered = await register(service);
    await run("scripts/backup.sh", [join(folder, "backup")], { BACKUP_DATABASE_URL: backupUrlOf(before) });
    await run("scripts/restore.sh", [join(folder, "backup"), "cupo"], { ADMIN_DATABASE_URL: after.superuserUrl });
    await execute(after.superuserUrl, "ALTER ROLE cupo_owner PASSWORD 'two'", "ALTER ROLE cupo PASSWORD 'three'");
  });

  afterAll(async () => {
    await service.close();
    await Promise.all([before.stop(), after.stop()]);
    rmSync(folder, { recursive: true });
  });

  test("is readable by its creator only and contains no passwords of roles", () => {
    expect(statSync(join(folder, "backup")).mode & 0o077).toBe(0);
    expect(readFileSync(join(folder, "backup/roles.sql"), "utf8")).not.toMatch(/PASSWORD|SCRAM/);
  });

  test("is restored row by row into a new cluster", async () => {
    const counted = await Promise.all([before, after].map(rowsByTable));
    expect(counted[1]).toEqual(counted[0]);
    expect(counted[0]).toMatchObject({ appointments: 1, patients: 2, audit_events: expect.any(Number) });
  });

  test("satisfies the doctor after the restore and needs no migration", async () => {
    const keys = join(folder, "keys.json");
    writeFileSync(keys, keySetDocument(makeKey("ES256", "one").publicJwk));
    const environment = {
      DATABASE_URL: serviceUrlOf(after),
      MIGRATION_DATABASE_URL: ownerUrlOf(after),
      AUTH_ISSUER: "https://issuer.example",
      AUTH_AUDIENCE: "https://scheduling.example",
      AUTH_JWKS_FILE: keys,
      PUBLIC_URL: "https://scheduling.example",
    };
    const findings = await examine({
      environment,
      now: await clockOf(after.superuserUrl),
      freeBytes,
      findEmbedded: async () => undefined,
    });
    expect(findings.filter(({ level }) => level !== "ok")).toEqual([]);
    const steps: string[] = [];
    const onProgress = (step: string) => steps.push(step);
    await migrate({ url: ownerUrlOf(after), serviceUrl: serviceUrlOf(after), onProgress });
    expect(steps).toEqual([]);
  });

  test("is served after the restore: an old key replays, invariants hold, and booked slots stay booked", async () => {
    const restored = await startTestService({ DATABASE_URL: serviceUrlOf(after) });
    onTestFinished(() => restored.close());
    const replay = await register(restored);
    expect(replay.headers.get("idempotent-replayed")).toBe("true");
    expect(replay.body).toEqual(registered.body);
    const as = { tenantId: service.tenantId };
    const { invariantReport } = await mustCall({ service: restored, as }, "VerifyInvariants", {});
    expect(invariantReport).toMatchObject({ findings: [], liveAppointmentCount: 1 });
    const another = await fixtures.patient.create(restored, as);
    expect((await bookFirst({ ...clinic, service: restored, as }, another)).status).toBe("PENDING");
  });

  test("is refused to the owner, because row-level security applies to it too", async () => {
    const owner = run("scripts/backup.sh", [join(folder, "by-owner")], { BACKUP_DATABASE_URL: ownerUrlOf(before) });
    await expect(owner).rejects.toThrow("row-level security");
    const dump = ["--enable-row-security", "--table=patients", ownerUrlOf(before)];
    const { stdout } = await promisify(execFile)(join(`${postgresPrograms}`, "pg_dump"), dump);
    expect(stdout).toContain("COPY public.patients");
    expect(stdout).not.toContain(patient.documentNumber);
  });

  test("does not overwrite another backup, and a restore does not overwrite a database", async () => {
    const again = run("scripts/backup.sh", [join(folder, "backup")], { BACKUP_DATABASE_URL: backupUrlOf(before) });
    await expect(again).rejects.toThrow("exists already");
    const over = run("scripts/restore.sh", [join(folder, "backup"), "cupo"], {
      ADMIN_DATABASE_URL: after.superuserUrl,
    });
    await expect(over).rejects.toThrow("already exists");
  });

  /** Registers the same patient each time, as the same client and with the same key. */
  async function register(on: TestService): Promise<RestAnswer> {
    const token = await on.token({ tenantId: service.tenantId });
    const answer = await on.request("POST", "/patients", { token, headers: { "idempotency-key": KEY }, body: patient });
    expect(answer.status).toBe(201);
    return answer;
  }
});

/** Runs a script with PostgreSQL's programs first in PATH. */
function run(script: string, args: readonly string[], environment: Readonly<Record<string, string>>) {
  const env = { PATH: `${postgresPrograms}:${process.env["PATH"]}`, ...PASSWORDS, ...environment };
  return promisify(execFile)(join(root, script), [...args], { env });
}

function connectionTo({ superuserUrl }: OwnPostgres): Record<string, string> {
  const { hostname, port, password } = new URL(superuserUrl);
  return { PGHOST: hostname, PGPORT: port, PGPASSWORD: password };
}

function ownerUrlOf(server: OwnPostgres): string {
  return server.urlOf("cupo_owner", PASSWORDS.CUPO_OWNER_PASSWORD, "cupo");
}

function serviceUrlOf(server: OwnPostgres): string {
  return server.urlOf("cupo", PASSWORDS.CUPO_SERVICE_PASSWORD, "cupo");
}

function backupUrlOf(server: OwnPostgres): string {
  return server.urlOf("cupo_backup", PASSWORDS.CUPO_BACKUP_PASSWORD, "cupo");
}

async function rowsByTable(server: OwnPostgres): Promise<Record<string, number>> {
  const url = new URL(server.superuserUrl);
  url.pathname = "/cupo";
  const tables = await execute(
    url.href,
    "SELECT relname::text AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')",
  );
  const count = async ({ name }: Record<string, unknown>) => {
    const [row] = await execute(url.href, `SELECT count(*)::int AS rows FROM public.${String(name)}`);
    return [String(name), Number(row?.["rows"])] as const;
  };
  return Object.fromEntries(await Promise.all(tables.map(count)));
}
