import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { builtProgram } from "../support/built-program.js";
import { patience } from "../support/eventually.js";
import { startTestService, type TestService } from "../support/service.js";
import { writeDirtyFolder } from "./dirty-folder.js";
import { countsOf, type ImportingClinic, invariantsOf, openImportingClinic } from "./rows-under-test.js";

/** Several times the duration on an idle machine. */
const SLACK_MS = 400_000;
const KILLS = 10;
/** Rows of the files, a tenth of them wrong. */
const [PATIENTS, APPOINTMENTS] = [1_500, 500];

let service: TestService;
let clinic: ImportingClinic;
let folder: string;
let program: string;

beforeAll(async () => {
  program = join(await builtProgram(), "dist/main.js");
  service = await startTestService();
  clinic = await openImportingClinic(service);
  folder = await mkdtemp(join(tmpdir(), "cupo-import-"));
});

afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

test(
  `cupo import, killed ${KILLS} times and run twice, has the source's counts, and the last run changes nothing`,
  async () => {
    const { goodPatients, goodAppointments } = await writeDirtyFolder(folder, clinic, {
      patients: PATIENTS,
      appointments: APPOINTMENTS,
    });
    const all = goodPatients + goodAppointments;
    for (let kills = 0; kills < KILLS; kills += 1) {
      const { process: importing } = await startImport();
      const exited = once(importing, "exit");
      const enough = Math.floor((all * (kills + 0.5)) / (KILLS + 1));
      await vi.waitUntil(async () => (await imported()) >= enough, { ...patience, timeout: SLACK_MS });
      importing.kill("SIGKILL");
      expect(await exited).toEqual([null, "SIGKILL"]);
    }
    const finished = await finish();
    expect(finished.status).toBe(2);
    expect(await countsOf(clinic)).toEqual({ PATIENT: goodPatients, APPOINTMENT: goodAppointments });
    const before = await audited();
    const again = await finish();
    expect(again.output).toMatch(rowsLine("patients", PATIENTS, goodPatients));
    expect(again.output).toMatch(rowsLine("appointments", APPOINTMENTS, goodAppointments));
    expect(again.output.match(/^\w+\.ndjson:\d+: /gm)).toHaveLength(
      finished.output.match(/^\w+\.ndjson:\d+: /gm)?.length ?? 0,
    );
    expect(await audited()).toEqual(before);
    expect(await invariantsOf(clinic)).toMatchObject({ findings: [] });
  },
  SLACK_MS,
);

/** Returns a pattern for the line of a run that finds `good` of `rows` rows already imported, and the others wrong. */
function rowsLine(name: string, rows: number, good: number): RegExp {
  return new RegExp(`${name} +${rows} +0 +${good} +${rows / 10} +${good}\\n`);
}

async function startImport() {
  const environment = { PATH: process.env["PATH"], CUPO_TOKEN: await service.token(clinic.as) };
  const { sourceSystem } = clinic;
  const flags = ["import", folder, "--source", sourceSystem, "--url", service.internalUrl];
  const importing = spawn(process.execPath, [program, ...flags], { env: environment });
  let output = "";
  importing.stdout.on("data", (data: Buffer) => {
    output += data.toString();
  });
  return { process: importing, output: () => output };
}

async function finish() {
  const { process: importing, output } = await startImport();
  const [status] = await once(importing, "close");
  return { status, output: output() };
}

async function imported(): Promise<number> {
  const rows = `SELECT count(*)::int AS count FROM imported_resources WHERE tenant_id = '${clinic.as.tenantId}'`;
  return Number((await service.query(rows))[0]?.["count"]);
}

function audited() {
  return service.query(`SELECT count(*)::int AS count FROM audit_events WHERE tenant_id = '${clinic.as.tenantId}'`);
}
