import { expect, onTestFinished, test } from "vitest";
import { openClinic } from "../schedule/clinic.js";
import { eventually } from "../support/eventually.js";
import { startTestService } from "../support/service.js";
import { readMetrics } from "./metrics-page.js";

test("the jobs of a process count schedules at the limit of open slots, and have connections of their own", async () => {
  const generous = await startTestService();
  onTestFinished(() => generous.close());
  await openClinic(generous, { materialized: false });
  const narrow = { DATABASE_URL: generous.databaseUrl, MAX_OPEN_SLOTS: "10", JOB_CONNECTIONS: "3" };
  const working = await startTestService(narrow, { runsJobs: true });
  onTestFinished(() => working.close());
  const sum = async (name: string, labels: Readonly<Record<string, string>>) =>
    (await readMetrics(working.internalUrl)).sum(name, labels) ?? 0;
  await eventually(async () => (await sum("cupo_limits_reached_total", { cupo_limit: "open_slots" })) > 0);
  const most = (pool: string) => sum("db_client_connection_max", { db_client_connection_pool_name: pool });
  expect([await most("jobs"), await most("calls")]).toEqual([3, 10]);
});
