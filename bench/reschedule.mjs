/**
 * Moves of appointments by the service over REST beside pgbench, which sends the statements and the values that the service sent and
 * so makes the same rows, in rounds, in turns, each in a clone of one database. Prints a table in Markdown; --out=FOLDER writes it
 * to reschedule.md, all rounds to reschedule.json and a plot to reschedule.svg. See README.md.
 *
 *   npm run build && node bench/reschedule.mjs
 */
import { randomUUID } from "node:crypto";
import { openBenchDatabase } from "./bench-database.mjs";
import { openCallers } from "./callers.mjs";
import { measureMoves } from "./measure-moves.mjs";
import { signToken, withService } from "./measured-service.mjs";
import { median } from "./median.mjs";
import { openSlots } from "./open-slots.mjs";
import { prepareMoves } from "./prepare-moves.mjs";
import { publish } from "./publish.mjs";
import { recordReplay } from "./record-replay.mjs";
import { renewOptions } from "./renew-options.mjs";
import { CONNECTIONS as PGBENCH_CONNECTIONS } from "./run-pgbench.mjs";
import { requirePrograms } from "./run-program.mjs";
import { CONNECTIONS } from "./send-prepared.mjs";

const ROUNDS = Number(process.env.BENCH_ROUNDS || 6);
const MOVES = Number(process.env.BENCH_MOVES || 3_000);
const FEWEST_MOVES = 100;
const SLOTS = 20_000;
const AT_ONCE = 8;
const GOAL = 0.4;
const { signal } = new AbortController();

requirePrograms({ wrk: "wrk", pgbench: "postgresql-15 (or the postgresql-NN of the release)" });
if (!(MOVES >= FEWEST_MOVES) || MOVES % PGBENCH_CONNECTIONS !== 0)
  throw new Error(`BENCH_MOVES held ${MOVES}; it takes a multiple of ${PGBENCH_CONNECTIONS} from ${FEWEST_MOVES}`);
const database = await openBenchDatabase(progress);
try {
  progress(`preparing ${MOVES} moves`);
  const moves = await prepare();
  progress("recording the statements of all moves");
  const replay = await recordReplay(database, moves, signal);
  const pace = { rounds: ROUNDS, signal, onProgress: progress };
  await publish(table(await measureMoves(database, moves, replay, pace)));
} finally {
  await database.close();
}

/** The message and the idempotency key of each move: every clone of the database has the appointments and slots for them. */
async function prepare() {
  const { dataDir, url: databaseUrl } = database;
  const token = await signToken(dataDir, signal);
  const moves = await withService({ dataDir, databaseUrl, signal }, async (service) => {
    const call = openCallers(service, token)["Connect JSON"];
    return prepareMoves(call, await openSlots(call, SLOTS), MOVES, AT_ONCE);
  });
  const given = moves.map(({ message }) => message.optionToken);
  const renewed = await renewOptions(databaseUrl, given);
  return moves.map(({ message }, i) => ({ message: { ...message, optionToken: renewed[i] }, key: randomUUID() }));
}

function table({ rates, strangersShare }) {
  const replays = {
    "pgbench, the service's round trips": rates.asService,
    "pgbench, one statement after the other": rates.sequential,
  };
  const without = (replay) => replay.map((rate, round) => 1 / (1 / rate - 1 / rates.lookUp[round]));
  const ratio = (replay) => median(rates.service.map((rate, round) => rate / replay[round])).toFixed(2);
  const rowOf = (label, all) => [label, String(Math.round(median(all)))];
  const rows = [
    [...rowOf(`the service (wrk, ${CONNECTIONS} connections)`, rates.service), "", ""],
    ...Object.entries(replays).flatMap(([label, replay]) => [
      [...rowOf(`${label} (${PGBENCH_CONNECTIONS} connections)`, without(replay)), ratio(without(replay)), ""],
      [...rowOf("the same, with the look-up of its values", replay), ratio(replay), ""],
    ]),
    [...rowOf("pgbench, the look-up alone", rates.lookUp), "", ""],
    ["reschedule against pgbench with the same rows", "", ratio(without(rates.asService)), `≥ ${GOAL.toFixed(2)}`],
  ];
  const measured = { "the service": rates.service, ...replays };
  const bars = Object.entries(measured).map(([label, all]) => ({ label, value: median(all) }));
  const head = ["moves a second", "median", "service against it, median of rounds", "goal"];
  const results = { moves: MOVES, rates, strangersShare };
  return { name: "reschedule", title: "Moves a second", head, rows, bars, results };
}

function progress(text) {
  console.error(text);
}
