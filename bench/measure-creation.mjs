import { waitForQuiet } from "./quiet-machine.mjs";
import { rowsOf } from "./rows-of.mjs";
import { runPgbench } from "./run-pgbench.mjs";
import { CONNECTIONS, runWrk } from "./run-wrk.mjs";
import { sampleMemory } from "./sample-memory.mjs";

const RPC = "/cupo.access.v1.PatientService/RegisterPatient";
const WARM_UP_SECONDS = 3;

/**
 * Loads the service for some seconds, over REST and over Connect's JSON, then the database by each pgbench script, and again in so many rounds, on the same
 * tables, after a warm-up. Gives the results of each by name, in the order of the rounds, the most memory that the service
 * had, and the largest share of the processors that strangers used just before a run.
 *
 * A run is void, and the promise rejects, where an answer was not a success, or where one of the tables did not grow by
 * the rows of as many creations as there were answers; requests that the end of a run cut off may have added theirs too.
 *
 * @param {{ tables: ReadonlyMap<string, number> }} options `tables` with the rows that a creation adds to each
 */
export async function measureCreation({ scripts, constants, tables, database, service, token, ...pace }) {
  const { signal } = pace;
  const { url: databaseUrl, dataDir: folder } = database;
  const loads = {
    service: (run, seconds) => runWrk({ baseUrl: service.baseUrl, token, run, seconds, signal }),
    connect: (run, seconds) => runWrk({ baseUrl: service.internalUrl, path: RPC, token, run, seconds, signal }),
  };
  for (const [name, script] of Object.entries(scripts)) {
    loads[name] = (run, seconds) =>
      runPgbench({ databaseUrl, folder, script, variables: variablesOf(run, constants), seconds, signal });
  }
  const audited = (load) => withRowsCounted(database, tables, load);
  const memory = sampleMemory(service.pid);
  try {
    return { ...(await runRounds(loads, audited, pace)), residentMb: memory.most() };
  } finally {
    memory.stop();
  }
}

async function runRounds(loads, audited, { rounds, seconds, signal, onProgress }) {
  const names = Object.keys(loads);
  const results = Object.fromEntries(names.map((name) => [name, []]));
  let strangersShare = 0;
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, name] of names.entries()) {
      const run = round * names.length + index + 1;
      if (round === 0) {
        onProgress(`warming up: ${name}`);
        await audited(() => loads[name](run, WARM_UP_SECONDS));
      } else {
        strangersShare = Math.max(strangersShare, await waitForQuiet(signal));
        onProgress(`round ${round} of ${rounds}: ${name}`);
        results[name].push(await audited(() => loads[name](run, seconds)));
      }
    }
  }
  return { results, strangersShare };
}

function variablesOf(run, constants) {
  return [...constants, ["run", String(run)], ["count", "0"]];
}

/** Runs a load that registers patients, after a checkpoint. Rejects where a table did not grow by the rows of its creations. */
export async function withRowsCounted(database, tables, load) {
  await database.checkpoint();
  const before = await countRows(database, tables);
  const result = await load();
  const after = await countRows(database, tables);
  for (const [table, rows] of tables) {
    const created = (after[table] - before[table]) / rows;
    if (Number.isInteger(created) && created >= result.completed && created <= result.completed + CONNECTIONS) continue;
    throw new Error(`${result.completed} creations were answered, but ${table} has the rows of ${created} more`);
  }
  return result;
}

async function countRows(database, tables) {
  return Object.fromEntries(await rowsOf(database, [...tables.keys()]));
}
