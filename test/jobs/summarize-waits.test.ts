import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { summarizeWaits } from "../../src/jobs/summarize-waits.js";
import type { Database } from "../../src/postgres/database.js";
import { servingName } from "../../src/postgres/migration/serving-releases.js";
import { runAsTenant } from "../../src/postgres/run-transaction.js";
import { dropSummaries } from "../../src/postgres/tables/opportunity/summaries.js";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, day, mustCall } from "../schedule/clinic.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { startTestService, type TestService } from "../support/service.js";
import { expectSums } from "./indicators-under-test.js";
import { type LargeClinic, openLargeClinic } from "./many-appointments.js";
import { stepsOf } from "./waiting-patients.js";

const ALL = ["MONTH", "SERVICE", "LOCATION", "PAYER", "PROGRAM"] as const;
const LIMITS = { statementTimeoutMs: 60_000, lockTimeoutMs: 10_000, idleTimeoutMs: 10_000 };

let service: TestService;
let database: Database;

beforeAll(async () => {
  service = await startTestService();
  database = openServiceDatabase(service.databaseUrl);
});

afterAll(async () => {
  await database.close();
  await service.close();
});

describe("the indicators of 100,000 appointments of a year", () => {
  test("equal a sum by hand, to the unit, from the appointments and from summaries", { timeout: 300_000 }, async () => {
    const clinic = await openLargeClinic(service, 100_000);
    for (const days of [-300, -301, -200, -40]) {
      await mustCall(clinic, "CreateHoliday", { date: day(clinic, days), name: "Fiesta", active: true });
    }
    await expectSums(service, clinic.tenantId, { ...wholeTime(clinic), groupBy: [...ALL] });
    await summarizeWaits(database);
    expect(await summariesOf(clinic)).toBeGreaterThan(100);
    for (const groupBy of [[], ["PAYER"], ["SERVICE", "MONTH"], [...ALL]] as const) {
      await expectSums(service, clinic.tenantId, { ...wholeTime(clinic), groupBy: [...groupBy] });
    }
    const half = { monthFrom: day(clinic, -300).slice(0, 7), monthTo: day(clinic, -120).slice(0, 7) };
    await expectSums(service, clinic.tenantId, { ...half, groupBy: ["PROGRAM"] });
  });
});

describe("the indicators", () => {
  test("equal a sum by hand after each of many changes, whenever the job runs", async () => {
    const clinic = await openLargeClinic(service, 500);
    const steps = stepsOf(clinic, database);
    const taken = new Map<string, number>();
    for (const name of PLAN.split(" ") as (keyof typeof steps)[]) {
      if (await steps[name]()) taken.set(name, (taken.get(name) ?? 0) + 1);
      await expectSums(service, clinic.tenantId, { ...wholeTime(clinic), groupBy: [...ALL] });
    }
    expect([...taken.keys()].toSorted()).toEqual(Object.keys(steps).toSorted());
  });

  test("equal a sum by hand after bookings and cancellations while summaries are built and dropped", async () => {
    const clinic = await openLargeClinic(service, 500);
    const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
    const visit = async (days: number) => {
      const dates = { dateFrom: day(clinic, days), dateTo: day(clinic, days) };
      const { appointmentId } = await bookFirst(clinic, await fixtures.createPatient(service, {}, clinic.as), dates);
      const end = { appointmentId, cancellationReasonId, expectedVersion: 1, comment: "Viaje." };
      if (days % 2 === 0) await mustCall(clinic, "CancelAppointment", end);
    };
    const visits = { areDone: false };
    const rebuild = async () => {
      while (!visits.areDone) {
        await summarizeWaits(database);
        await runAsTenant(database, clinic.tenantId, LIMITS, async (transaction) => dropSummaries(transaction));
      }
    };
    const summarize = async () => {
      while (!visits.areDone) await summarizeWaits(database);
    };
    const visited = Promise.all(Array.from({ length: 20 }, (_, index) => visit(index + 1)));
    await Promise.all([visited.finally(() => (visits.areDone = true)), rebuild(), summarize()]);
    await expectSums(service, clinic.tenantId, { ...wholeTime(clinic), groupBy: [...ALL] });
    await summarizeWaits(database);
    await expectSums(service, clinic.tenantId, { ...wholeTime(clinic), groupBy: [...ALL] });
  });

  test("leave out the group of a payer whose only appointment got another payer", async () => {
    const clinic = await openLargeClinic(service, 50);
    await summarizeWaits(database);
    const patientId = await fixtures.createPatient(service, {}, clinic.as);
    const payerId = await fixtures.payer.create(service, clinic.as);
    const { appointmentId } = await bookFirst(clinic, patientId);
    for (const [index, payer] of [payerId, `${clinic.payerIds[0]}`].entries()) {
      const correction = { appointmentId, expectedVersion: index + 1, payerId: payer, reason: "Fue un error." };
      await mustCall(clinic, "CorrectAppointmentWait", correction);
      await expectSums(service, clinic.tenantId, { ...wholeTime(clinic), groupBy: ["PAYER"] });
      await summarizeWaits(database);
      await expectSums(service, clinic.tenantId, { ...wholeTime(clinic), groupBy: ["PAYER"] });
    }
  });

  test("have summaries that VerifyInvariants compares with the appointments", async () => {
    const clinic = await openLargeClinic(service, 50);
    await summarizeWaits(database);
    const found = async () => {
      const { invariantReport } = await mustCall(clinic, "VerifyInvariants", {});
      const { findings } = invariantReport as unknown as {
        findings: readonly { name: string; exampleIds: string[] }[];
      };
      return findings.filter(({ name }) => name === "SUMMARY_WRONG");
    };
    await bookFirst(clinic, await fixtures.createPatient(service, {}, clinic.as));
    expect(await found()).toEqual([]);
    await summarizeWaits(database);
    expect(await found()).toEqual([]);
    await service.query(`UPDATE appointments SET assigned_on = requested_on WHERE tenant_id = '${clinic.tenantId}'
      AND service_id = '${clinic.serviceId}'`);
    expect(await found()).toMatchObject([{ exampleIds: [clinic.serviceId] }]);
  });

  test("come from the appointments while an older release serves the database, which appends no changes", async () => {
    const clinic = await openLargeClinic(service, 50);
    await summarizeWaits(database);
    const older = new Client({ connectionString: service.databaseUrl, application_name: servingName("0040-waits") });
    onTestFinished(() => older.end());
    await older.connect();
    await summarizeWaits(database);
    await service.query(`UPDATE appointments SET status = 'NO_SHOW' WHERE tenant_id = '${clinic.tenantId}'`);
    await expectSums(service, clinic.tenantId, { ...wholeTime(clinic), groupBy: [...ALL] });
    await summarizeWaits(database);
    await expectSums(service, clinic.tenantId, { ...wholeTime(clinic), groupBy: [...ALL] });
  });
});

const PLAN =
  `book summarize bookLate enterAndBook summarize move correctWait cancel rebook summarize attend book checkIn
  attend correctWait summarize correctStatus miss merge rebook summarize cancel erase closeDay bookLate move summarize pass
  miss correctStatus attend closeDay summarize book cancel summarize`.replaceAll(/\s+/g, " ");

function wholeTime(clinic: LargeClinic) {
  return { monthFrom: day(clinic, -600).slice(0, 7), monthTo: day(clinic, 80).slice(0, 7) };
}

async function summariesOf({ tenantId }: LargeClinic): Promise<number> {
  const rows = await service.query(`SELECT count(*)::int FROM opportunity_summaries WHERE tenant_id = '${tenantId}'`);
  return Number(rows[0]?.["count"]);
}
