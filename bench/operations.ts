import { type Bench, setting } from "./bench.js";
import { type LoadResult, runLoad } from "./load.js";
import { inTurn, medianOf, ratioOfRounds, waitForQuiet } from "./machine.js";
import { type Operation, type OperationName, prepareOperations } from "./prepared-operations.js";
import { type Figure, GOALS, type Report } from "./report.js";
import { type Call, isPublished, openCallers, type Protocol } from "./requests.js";
import { signToken, startService } from "./service.js";

/** How many calls run at the same time. */
const AT_ONCE = 8;

/** The rounds of an operation over a protocol. */
interface Measured {
  readonly name: OperationName;
  readonly protocol: Protocol;
  readonly runs: LoadResult[];
}

/**
 * Measures the operations that matter most over REST, Connect JSON and gRPC, eight calls at once, in turns. The first
 * round warms up.
 */
export async function operations(bench: Bench): Promise<Report> {
  const service = await startService(bench);
  try {
    const callers = openCallers(service, await signToken(bench.database.dataDir));
    bench.progress("preparing a clinic");
    return reportOf(await measure(bench, callers, await prepareOperations(callers["Connect JSON"])));
  } finally {
    await service.stop();
  }
}

async function measure(
  { signal, progress }: Bench,
  callers: Record<Protocol, Call>,
  prepared: readonly Operation[],
): Promise<Measured[]> {
  const rounds = setting("BENCH_ROUNDS", 6);
  const calls = setting("BENCH_CALLS", 200);
  const protocols: Protocol[] = ["REST", "Connect JSON", "gRPC"];
  const measured = prepared.flatMap(({ name, rpc }) =>
    protocols
      .filter((protocol) => protocol !== "REST" || isPublished(rpc))
      .map((protocol): Measured => ({ name, protocol, runs: [] })),
  );
  for (let round = 0; round <= rounds; round += 1) {
    progress(round === 0 ? "warming up" : `round ${round} of ${rounds}`);
    await waitForQuiet(signal);
    for (const { name, protocol, runs } of inTurn(measured, round)) {
      const operation = prepared.find((each) => each.name === name);
      if (operation === undefined) continue;
      signal.throwIfAborted();
      const run = await runOperation(callers[protocol], operation, calls);
      if (round > 0) runs.push(run);
    }
  }
  return measured;
}

/** Makes at most `count` calls of an operation, eight at once. Rejects if one fails. */
export async function runOperation(call: Call, { rpc, prepare }: Operation, count: number): Promise<LoadResult> {
  const waiting = [...(await prepare(count))];
  return runLoad({
    callers: AT_ONCE,
    next() {
      const request = waiting.pop();
      return request && (async () => (await call(rpc, request.message, request.key), 200));
    },
  });
}

function reportOf(measured: readonly Measured[]): Report {
  const rows = measured.map(({ name, protocol, runs }) => [
    name,
    protocol,
    medianOf(runs, ({ rate }) => rate).toFixed(0),
    medianOf(runs, ({ p50Ms }) => p50Ms).toFixed(1),
    medianOf(runs, ({ p99Ms }) => p99Ms).toFixed(1),
  ]);
  const head = [`${AT_ONCE} at once`, "protocol", "a second", "p50 ms", "p99 ms"];
  return { head, rows, goals: goalsOf(measured), measured };
}

function goalsOf(measured: readonly Measured[]): Figure[] {
  const runsOf = (name: OperationName, protocol: Protocol) =>
    measured.find((each) => each.name === name && each.protocol === protocol)?.runs ?? [];
  const rates = (protocol: Protocol) => runsOf("POST /patients", protocol).map(({ rate }) => rate);
  return [
    { goal: GOALS.ruleUpdate, value: medianOf(runsOf("PATCH of a rule", "REST"), ({ p50Ms }) => p50Ms) },
    { goal: GOALS.restToConnect, value: ratioOfRounds(rates("REST"), rates("Connect JSON")) },
  ];
}
