import { resolve } from "node:path";
import { type Bench, type BenchDatabase, openBenchDatabase, setting } from "./bench.js";
import { allCreated, CONNECTIONS, runRegistrations } from "./load.js";
import { databaseSeconds, medianOf, processorSeconds, ratioOfRounds, waitForQuiet } from "./machine.js";
import { runOperation } from "./operations.js";
import { type Operation, type OperationName, prepareOperations } from "./prepared-operations.js";
import { type Figure, GOALS, type Report } from "./report.js";
import { type Call, openCallers } from "./requests.js";
import { type RunningService, signToken, startService } from "./service.js";

/** The result of one version in a round. Times are microseconds per call. */
interface Run {
  readonly rate: number;
  readonly serviceUs: number;
  readonly databaseUs: number;
}

/** The rounds of an operation with this version and with the other one. */
interface Measured {
  readonly name: OperationName;
  readonly own: Run[];
  readonly other: Run[];
}

/** A version in its folder, with a database that it migrated. */
interface Version {
  readonly folder: string;
  readonly database: BenchDatabase;
  readonly token: string;
  /** Its process of this round. */
  running: { readonly service: RunningService; readonly call: Call } | undefined;
  /** Their requests are prepared by the process of the round. */
  prepared: readonly Operation[];
}

const MEASURED: readonly OperationName[] = ["POST /patients", "PATCH of a rule", "reschedule", "search for options"];
const FIGURES: readonly [keyof Run, string][] = [
  ["rate", "calls a second"],
  ["serviceUs", "µs of the service's processor time"],
  ["databaseUs", "µs of PostgreSQL's processor time"],
];

/**
 * Compares this version with another one (`--other`), which is built in another folder. Each has its own database,
 * because the schema is a part of a version. They take turns. Each round has new processes, because two processes of one
 * version can differ by a tenth.
 */
export async function versions(bench: Bench): Promise<Report> {
  if (bench.other === undefined) throw new Error("versions needs --other=FOLDER, the folder of a built checkout");
  const otherFolder = resolve(bench.other);
  const otherDatabase = await openBenchDatabase(bench.progress, otherFolder);
  try {
    const own = await versionOf(process.cwd(), bench.database);
    return await compare(bench, own, await versionOf(otherFolder, otherDatabase));
  } finally {
    await otherDatabase.close();
  }
}

async function versionOf(folder: string, database: BenchDatabase): Promise<Version> {
  return { folder, database, token: await signToken(database.dataDir), running: undefined, prepared: [] };
}

async function compare(bench: Bench, own: Version, other: Version): Promise<Report> {
  const rounds = setting("BENCH_ROUNDS", 6);
  const measured = MEASURED.map((name): Measured => ({ name, own: [], other: [] }));
  for (let round = 1; round <= rounds; round += 1) {
    bench.progress(`round ${round} of ${rounds}`);
    const inTurn = round % 2 === 0 ? [own, other] : [other, own];
    try {
      for (const version of [own, other]) await start(version, bench.signal);
      await runRound(bench, inTurn, 0.5, () => undefined);
      await runRound(bench, inTurn, 1, (version, name, run) => {
        measured.find((each) => each.name === name)?.[version === own ? "own" : "other"].push(run);
      });
    } finally {
      for (const { running } of [own, other]) await running?.service.stop();
    }
  }
  return reportOf(measured);
}

async function start(version: Version, signal: AbortSignal): Promise<void> {
  const { folder, database, token } = version;
  const service = await startService({ database, signal, folder });
  version.running = { service, call: openCallers(service, token)["Connect JSON"] };
  if (version.prepared.length > 0) return;
  version.prepared = await prepareOperations((...request) => runningOf(version).call(...request));
  await database.query("VACUUM ANALYZE");
}

function runningOf({ running }: Version): NonNullable<Version["running"]> {
  if (running === undefined) throw new Error("the version does not run");
  return running;
}

/** Runs a share of the calls of each operation by each version. The first round of new processes is a warm-up. */
async function runRound(
  { signal }: Bench,
  inTurn: readonly Version[],
  share: number,
  take: (version: Version, name: OperationName, run: Run) => void,
): Promise<void> {
  for (const name of MEASURED) {
    for (const version of inTurn) {
      await version.database.checkpoint();
      await waitForQuiet(signal);
      const operation = version.prepared.find((each) => each.name === name);
      if (operation !== undefined) take(version, name, await runTimed(version, operation, share));
    }
  }
}

async function runTimed(version: Version, operation: Operation, share: number): Promise<Run> {
  const { database, token } = version;
  const { service, call } = runningOf(version);
  const sum = { calls: 0, seconds: 0, service: 0, database: 0 };
  const timed = async (load: () => Promise<{ completed: number; seconds: number }>) => {
    const before = { service: processorSeconds(service.pid), database: await databaseSeconds(database) };
    const { completed, seconds } = await load();
    sum.service += processorSeconds(service.pid) - before.service;
    sum.database += (await databaseSeconds(database)) - before.database;
    sum.calls += completed;
    sum.seconds += seconds;
  };
  if (operation.name === "POST /patients") {
    const load = { url: `${service.baseUrl}/patients`, tokens: [token], connections: CONNECTIONS };
    const seconds = setting("BENCH_SECONDS", 4) * share;
    await timed(async () => allCreated(await runRegistrations({ ...load, seconds })));
  } else {
    const count = setting("BENCH_CALLS", 200) * share;
    while (sum.calls < count) {
      const requests = await operation.prepare(Math.ceil(count - sum.calls));
      const ready: Operation = { ...operation, prepare: async () => requests };
      await timed(() => runOperation(call, ready, requests.length));
    }
  }
  const usOf = (seconds: number) => (seconds / sum.calls) * 1e6;
  return { rate: sum.calls / sum.seconds, serviceUs: usOf(sum.service), databaseUs: usOf(sum.database) };
}

function reportOf(measured: readonly Measured[]): Report {
  const ratio = ({ own, other }: Measured, key: keyof Run) =>
    ratioOfRounds(
      own.map((run) => run[key]),
      other.map((run) => run[key]),
    );
  const rows = measured.flatMap((each) =>
    FIGURES.map(([key, text]) => [
      `${each.name}, ${text}`,
      medianOf(each.own, (run) => run[key]).toFixed(0),
      medianOf(each.other, (run) => run[key]).toFixed(0),
      ratio(each, key).toFixed(2),
    ]),
  );
  const goalOf = (name: OperationName, key: keyof Run, goal: Figure["goal"]) =>
    measured.filter((each) => each.name === name).map((each) => ({ goal, value: ratio(each, key) }));
  const goals = [
    ...goalOf("POST /patients", "databaseUs", GOALS.databaseTime),
    ...goalOf("POST /patients", "serviceUs", GOALS.registrationTime),
    ...goalOf("search for options", "serviceUs", GOALS.searchTime),
  ];
  return { head: ["", "this version", "the other", "ratio, median of rounds"], rows, goals, measured };
}
