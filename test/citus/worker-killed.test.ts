import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, inject, test } from "vitest";
import { withoutLocalCluster } from "../support/citus.js";
import { execute } from "../support/database.js";
import { startTestService, type TestService } from "../support/service.js";
import { expectToSurvive } from "./tenants-at-work.js";

const LONG_MS = 600_000;
const CLUSTER = fileURLToPath(new URL("../../deploy/citus/cluster.sh", import.meta.url));

describe.skipIf(withoutLocalCluster !== "")(`a worker that is killed and started again${withoutLocalCluster}`, () => {
  const { adminUrl, workerUrls } = inject("testServer");
  let service: TestService;

  beforeAll(async () => {
    service = await startTestService();
  }, LONG_MS);

  afterAll(() => service.close(), LONG_MS);

  test(
    "loses nothing acknowledged and does not affect other tenants",
    async () => {
      const [worker = ""] = workerUrls;
      const [server] = await execute(worker, "SELECT current_setting('data_directory') AS folder");
      const cluster = dirname(String(server?.["folder"]));
      await expectToSurvive(service, worker, {
        begin: () => kill(worker),
        end: async () => {
          await promisify(execFile)("sh", [CLUSTER, "start", cluster, new URL(adminUrl).port]);
        },
      });
    },
    LONG_MS,
  );

  /** Kills all processes of the server. The postmaster is first, because it would restart the others. */
  async function kill(worker: string): Promise<void> {
    const [first] = await execute(worker, "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int AS pid");
    const others = await execute(worker, "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()");
    for (const { pid } of [first ?? {}, ...others]) killIfThere(Number(pid));
  }

  function killIfThere(pid: number): void {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
});
