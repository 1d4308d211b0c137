import { restRequest } from "./callers.mjs";
import { signToken, withService } from "./measured-service.mjs";
import { inClone, movesIn } from "./moves-in-clones.mjs";
import { RESCHEDULE } from "./prepare-moves.mjs";
import { waitForQuiet } from "./quiet-machine.mjs";
import { CONNECTIONS, runPgbench, runPgbenchTimes } from "./run-pgbench.mjs";
import { sendPrepared } from "./send-prepared.mjs";
import { steadyRate } from "./steady-rate.mjs";

/** So many of the service's moves warm it up: what a move costs it falls for about a thousand of them. */
const WARM_UP_SHARE = 1 / 2;
/** Of the moves of each connection of pgbench, whose plans are settled after a dozen; some connections are far ahead of others. */
const PGBENCH_WARM_UP_SHARE = 1 / 4;
const LOOK_UP_SECONDS = 3;

/**
 * Has the service make all moves, then pgbench by each script, and again in so many rounds, each in a clone of the database. Gives
 * the rates behind the warm-up of each, by name and in the order of the rounds, and the largest share of the processors that
 * strangers used just before a run.
 *
 * A run is void, and the promise rejects, where a move was refused, or where a clone does not have what recording them made.
 *
 * @param {Awaited<ReturnType<typeof import("./bench-database.mjs").openBenchDatabase>>} database
 * @param {readonly { message: object, key: string }[]} moves
 * @param {Awaited<ReturnType<typeof import("./record-replay.mjs").recordReplay>>} replay
 * @param {{ rounds: number, signal: AbortSignal, onProgress: (text: string) => void }} pace
 */
export async function measureMoves(database, moves, replay, { rounds, signal, onProgress }) {
  const turns = {
    service: serviceTurn(database.dataDir, moves, signal),
    ...pgbenchTurns(database.dataDir, moves.length, replay, signal),
  };
  const rates = Object.fromEntries(Object.keys(turns).map((name) => [name, []]));
  let strangersShare = 0;
  for (let round = 1; round <= rounds; round += 1) {
    for (const [name, turn] of Object.entries(turns)) {
      onProgress(`round ${round} of ${rounds}: ${name}`);
      const measured = async (load) => {
        strangersShare = Math.max(strangersShare, await waitForQuiet(signal));
        rates[name].push(await load());
      };
      await inClone(database, async (clone) => {
        await turn(clone, measured);
        const expected = name === "lookUp" ? {} : replay.made;
        requireMade(name, await movesIn(clone, database, replay.tables), expected);
      });
    }
  }
  return { rates, strangersShare };
}

function serviceTurn(dataDir, moves, signal) {
  const requests = moves.map(({ message, key }) => ({ ...restRequest(RESCHEDULE, message), key }));
  const warmUp = Math.floor(moves.length * WARM_UP_SHARE);
  return async ({ url: databaseUrl, checkpoint }, measured) => {
    const token = await signToken(dataDir, signal);
    await withService({ dataDir, databaseUrl, signal }, async ({ baseUrl }) => {
      await checkpoint();
      await measured(() => sendPrepared({ baseUrl, token, folder: dataDir, requests, warmUp, signal }));
    });
  };
}

function pgbenchTurns(folder, moves, { scripts, constants }, signal) {
  const variables = [...constants, ["moves", String(moves)], ["clients", String(CONNECTIONS)], ["count", "0"]];
  const times = moves / CONNECTIONS;
  const turn = (load) => async (clone, measured) => {
    await clone.checkpoint();
    await measured(() => load({ databaseUrl: clone.url, folder, variables, signal }));
  };
  const moveAll = (script) =>
    turn(async (options) => {
      const ends = await runPgbenchTimes({ ...options, script, times });
      return steadyRate(ends, Math.floor(times * PGBENCH_WARM_UP_SHARE));
    });
  const lookUp = async (options) =>
    (await runPgbench({ ...options, script: scripts.lookUp, seconds: LOOK_UP_SECONDS })).rate;
  return {
    asService: moveAll(scripts.asService),
    sequential: moveAll(scripts.sequential),
    lookUp: turn(lookUp),
  };
}

function requireMade(name, made, expected) {
  const differing = Object.entries(made).filter(([what, count]) => count !== (expected[what] ?? 0));
  if (differing.length === 0) return;
  const lines = differing.map(([what, count]) => `${what}: ${count} in place of ${expected[what] ?? 0}`);
  throw new Error(`${name} did not make what was recorded of the moves:\n${lines.join("\n")}`);
}
