import { startTwinProcesses, type TwinProcesses } from "../schedule/twin-processes.js";
import { type Deferred, deferred } from "../support/deferred.js";
import { eventually } from "../support/eventually.js";
import { startKillablePostgres } from "./kill-storm-postgres.js";

/** Who is killed by SIGKILL: PostgreSQL, one of the two processes of the service, or all three at once. */
export type Victim = "POSTGRES" | "FIRST" | "SECOND" | "ALL";

/** Two processes of the service and their PostgreSQL, each of which can be killed. */
export interface KillableTwins extends Pick<TwinProcesses, "both" | "close"> {
  /** Kills and starts again, PostgreSQL with these settings on top. Resolves when everything is ready. */
  killAndRestart(victim: Victim, settings?: Readonly<Record<string, string>>): Promise<void>;
  /** Resolves when nothing is killed that is not ready again. */
  recovery(): Promise<void>;
}

const VICTIMS: readonly Victim[] = ["ALL", "POSTGRES", "FIRST", "SECOND"];

/** So many victims, each kind in turn. */
export function victims(count: number): Victim[] {
  return Array.from({ length: count }, (_, i) => VICTIMS[i % VICTIMS.length] ?? "ALL");
}

/** Starts PostgreSQL in a folder of its own and two processes on it. Settings that it is restarted with last until its next start. */
export async function startKillableTwins(): Promise<KillableTwins> {
  const postgres = await startKillablePostgres();
  const twins = await startTwinProcesses(postgres);
  let outage: Deferred | undefined;
  return {
    both: twins.both,
    recovery: async () => outage?.promise,
    async killAndRestart(victim, settings = {}) {
      outage = deferred();
      const processes = ([0, 1] as const).filter(
        (which) => victim === "ALL" || victim === (which === 0 ? "FIRST" : "SECOND"),
      );
      const isDatabaseKilled = victim === "ALL" || victim === "POSTGRES";
      await Promise.all([isDatabaseKilled && postgres.kill(), ...processes.map((which) => twins.kill(which))]);
      await Promise.all([
        isDatabaseKilled && postgres.restart(settings),
        ...processes.map((which) => twins.restart(which)),
      ]);
      await eventually(() => areReady(twins));
      outage.resolve();
      outage = undefined;
    },
    async close() {
      await twins.close();
      await postgres.close();
    },
  };
}

async function areReady({ both }: TwinProcesses): Promise<boolean> {
  const answers = await Promise.all(both.map(({ internalUrl }) => fetch(`${internalUrl}/readyz`)));
  return answers.every(({ ok }) => ok);
}
