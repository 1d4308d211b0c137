import { startTwinProcesses, type TwinProcesses } from "../schedule/twin-processes.js";
import { type Deferred, deferred } from "../support/deferred.js";
import { eventually } from "../support/eventually.js";
import { startKillablePostgres } from "./kill-storm-postgres.js";

/** The victim of a SIGKILL: PostgreSQL, one of the two processes of the service, or all three. */
export type Victim = "POSTGRES" | "FIRST" | "SECOND" | "ALL";

/** Two processes of the service and their PostgreSQL server. Each can be killed. */
export interface KillableTwins extends Pick<TwinProcesses, "both" | "close"> {
  /** The database, as the service connects to it. */
  readonly databaseUrl: string;
  /** Kills the victim and starts it again, PostgreSQL with additional settings. Resolves when everything is ready. */
  killAndRestart(victim: Victim, settings?: Readonly<Record<string, string>>): Promise<void>;
  /** Resolves when all killed processes are ready again. */
  recovery(): Promise<void>;
}

const VICTIMS: readonly Victim[] = ["ALL", "POSTGRES", "FIRST", "SECOND"];

/** Returns `count` victims, each kind in turn. */
export function victims(count: number): Victim[] {
  return Array.from({ length: count }, (_, i) => VICTIMS[i % VICTIMS.length] ?? "ALL");
}

/** Starts PostgreSQL in its own folder and two processes on it. Settings of a restart apply until the next start. */
export async function startKillableTwins(): Promise<KillableTwins> {
  const postgres = await startKillablePostgres();
  const twins = await startTwinProcesses(postgres);
  let outage: Deferred | undefined;
  return {
    both: twins.both,
    databaseUrl: postgres.url,
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
