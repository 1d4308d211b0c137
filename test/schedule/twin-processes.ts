import { type DatabaseUrls, openProcessFixture } from "../support/process-fixture.js";
import { compileService, type ServiceProcess } from "../support/service-process.js";
import { STORM_SETTINGS } from "./storm-context.js";
import type { Twins } from "./twins.js";

/** Identifies one of the two processes. */
export type Which = 0 | 1;

/** Two processes of the service on one database, which accept the same tokens. */
export interface TwinProcesses extends Twins {
  /** Kills a process by SIGKILL. Resolves when it is dead. */
  kill(which: Which): Promise<void>;
  /** Starts a process that was killed, on other ports. Resolves when it listens. */
  restart(which: Which): Promise<void>;
  /** Stops both gracefully, as in production. Returns their exit codes. */
  stop(): Promise<readonly (number | NodeJS.Signals)[]>;
}

/** Compiles the service and starts two processes with their background jobs. They log only errors. */
export async function startTwinProcesses(database: DatabaseUrls): Promise<TwinProcesses> {
  const [compiled, fixture] = await Promise.all([compileService(), openProcessFixture(database)]);
  const start = () => compiled.start({ ...fixture.environment, ...STORM_SETTINGS });
  const processes: [ServiceProcess, ServiceProcess] = [await start(), await start()];
  const logs = [processes[0].lines, processes[1].lines].map((lines) => [lines]);
  const serviceOf = (which: Which) =>
    fixture.serviceAt(
      () => processes[which],
      () => (logs[which] ?? []).flat(),
    );
  return {
    both: [serviceOf(0), serviceOf(1)],
    kill: (which) => processes[which].kill(),
    async restart(which) {
      processes[which] = await start();
      logs[which]?.push(processes[which].lines);
    },
    stop: () => Promise.all(processes.map((each) => each.stop())),
    async close() {
      compiled.stopAll();
      await fixture.close();
    },
  };
}
