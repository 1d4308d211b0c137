import { resolve } from "node:path";
import { type Bench, setting } from "./bench.js";
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

/** A version that runs in a round. */
interface Version {
  readonly service: RunningService;
  readonly call: Call;
}

const MEASURED: readonly OperationName[] = ["POST /patients", "PATCH of a rule", "reschedule", "search for options"];
const FIGURES: readonly [keyof Run, string][] = [
  ["rate", "calls a second"],
  ["serviceUs", "µs of the service's processor time"],
  ["databaseUs", "µs of PostgreSQL's processor time"],
];

/**
 * Compares this version with another one (`--other`), which is built in another folder. They take turns on one database
 * that this version migrated. Each round has new processes, because two processes of one version can differ by a tenth.
 */
export async function versions(bench: Bench): Promise<Report> {
  if (bench.other === undefined) throw new Error("versions needs --other=FOLDER, the folder of a built checkout");
  const folders = [process.cwd(), resolve(bench.other)];
  const token = await signToken(bench.database.dataDir);
  const rounds = setting("BENCH_ROUNDS", 6);
  const measured = MEASURED.map((name): Measured => ({ name, own: [], other: [] }));
  let prepared: readonly Operation[] | undefined;
  const current: Version[] = [];
  let turn = 0;
  const callInTurn: Call = (rpc, message, key) => {
    turn += 1;
    const version = current[turn % current.length];
    if (version === undefined) throw new Error("no version runs");
    return version.call(rpc, message, key);
  };
  for (let round = 1; round <= rounds; round += 1) {
    bench.progress(`round ${round} of ${rounds}`);
    try {
      for (const folder of folders) current.push(await startVersion(bench, folder, token));
      if (prepared === undefined) {
        prepared = await prepareOperations(callInTurn);
        await bench.database.query("VACUUM ANALYZE");
      }
      await runRound({ bench, token, prepared, round, measured: undefined }, current);
      await runRound({ bench, token, prepared, round, measured }, current);
    } finally {
      for (const { service } of current.splice(0)) await service.stop();
    }
  }
  return reportOf(measured);
}

async function startVersion(bench: Bench, folder: string, token: string): Promise<Version> {
  const service = await startService({ ...bench, folder });
  return { service, call: openCallers(service, token)["Connect JSON"] };
}

/** Without `measured`, the round warms up with half as many calls. The two versions alternate in going first. */
async function runRound(
  round: {
    bench: Bench;
    token: string;
    prepared: readonly Operation[];
    round: number;
    measured: Measured[] | undefined;
  },
  current: readonly Version[],
): Promise<void> {
  const { bench, token, prepared, measured } = round;
  const share = measured === undefined ? 0.5 : 1;
  const [own, other] = current;
  if (own === undefined || other === undefined) throw new Error("both versions must run");
  for (const name of MEASURED) {
    const operation = prepared.find((each) => each.name === name);
    if (operation === undefined) continue;
    for (const version of round.round % 2 === 0 ? [own, other] : [other, own]) {
      await bench.database.checkpoint();
      await waitForQuiet(bench.signal);
      const run = await runTimed(bench, version, token, operation, share);
      measured?.find((each) => each.name === name)?.[version === own ? "own" : "other"].push(run);
    }
  }
}

async function runTimed(
  { database }: Bench,
  { service, call }: Version,
  token: string,
  operation: Operation,
  share: number,
): Promise<Run> {
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
