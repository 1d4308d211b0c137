import { startBalancer } from "../support/balancer.js";
import { eventually } from "../support/eventually.js";
import { type DatabaseUrls, openProcessFixture } from "../support/process-fixture.js";
import type { TestService } from "../support/service.js";
import { compileService, type ServiceProcess } from "../support/service-process.js";

/** Processes of the service on one database, behind a balancer. */
export interface BalancedReplicas {
  /** All processes, through the balancer. */
  readonly service: TestService;
  /** Each process directly. */
  readonly each: readonly TestService[];
  /** Kills processes with SIGKILL without notifying the balancer. Resolves when they are dead. */
  kill(which: readonly number[]): Promise<void>;
  /** Starts the killed processes again, on other ports. Resolves when all replicas are ready. */
  restart(which: readonly number[]): Promise<void>;
  /**
   * Replaces a process as a rollout does: stops it and starts a new one. Resolves with the exit code when all replicas
   * are ready.
   */
  replace(which: number): Promise<number | NodeJS.Signals>;
  /** Resolves when at least one process is ready. */
  someReady(): Promise<void>;
  close(): Promise<void>;
}

/** Compiles the service and starts `count` processes that share quotas. Resolves when all are ready. */
export async function startBalancedReplicas(
  database: DatabaseUrls,
  count: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<BalancedReplicas> {
  const [compiled, fixture, balancer] = await Promise.all([
    compileService(),
    openProcessFixture(database),
    startBalancer(),
  ]);
  const shared = { RATE_LIMIT_STORE: "postgres", REPLICAS: String(count), PUBLIC_URL: balancer.publicUrl };
  const start = async () => {
    const process = await compiled.start({ ...fixture.environment, ...shared, ...settings });
    balancer.add(process);
    return process;
  };
  const processes = await startAll(count, start);
  const lines = processes.map((process) => [process.lines]);
  const whole = () => eventually(() => balancer.readyCount() === processes.length);
  await whole();
  const renew = async (which: number) => {
    balancer.remove(processAt(processes, which));
    const renewed = await start();
    processes[which] = renewed;
    lines[which]?.push(renewed.lines);
  };
  const serviceOf = (which: number) =>
    fixture.serviceAt(
      () => processAt(processes, which),
      () => (lines[which] ?? []).flat(),
    );
  return {
    service: fixture.serviceAt(
      () => balancer,
      () => lines.flat(2),
    ),
    each: processes.map((_, which) => serviceOf(which)),
    kill: async (which) => {
      await Promise.all(which.map((one) => processAt(processes, one).kill()));
    },
    async restart(which) {
      await Promise.all(which.map(renew));
      await whole();
    },
    async replace(which) {
      const replaced = processAt(processes, which);
      const stopped = replaced.stop();
      await eventually(() => !balancer.isReady(replaced));
      const exit = await stopped;
      await renew(which);
      await whole();
      return exit;
    },
    someReady: () => eventually(() => balancer.readyCount() > 0),
    async close() {
      balancer.close();
      compiled.stopAll();
      await fixture.close();
    },
  };
}

function processAt(processes: readonly ServiceProcess[], which: number): ServiceProcess {
  const process = processes[which];
  if (process === undefined) throw new Error(`there is no replica ${which}`);
  return process;
}

/** Starts the first process alone, so that only this one migrates. */
async function startAll(count: number, start: () => Promise<ServiceProcess>): Promise<ServiceProcess[]> {
  const first = await start();
  return [first, ...(await Promise.all(Array.from({ length: count - 1 }, start)))];
}
