import { startService } from "./measured-service.mjs";
import { startPostgresTap } from "./postgres-tap.mjs";
import { register } from "./registration.mjs";

/** The first ones prepare their statements; the last one is recorded. */
const CREATIONS = 3;

/**
 * Runs the service behind a recording proxy, registers patients one after the other, and gives the statements that the
 * last one took, a list for each round trip, its document number, and how many were registered.
 *
 * @param {{ dataDir: string, databaseUrl: string, token: string, signal: AbortSignal }} options
 */
export async function recordCreation({ dataDir, databaseUrl, token, signal }) {
  const tap = await startPostgresTap(databaseUrl);
  try {
    const service = await startService({ dataDir, databaseUrl: tap.url, signal });
    try {
      return await record(service.baseUrl, token, tap);
    } finally {
      await service.stop();
    }
  } finally {
    await tap.close();
  }
}

async function record(baseUrl, token, tap) {
  let document = "";
  let flights = [];
  for (let creation = 1; creation <= CREATIONS; creation += 1) {
    tap.takeFlights();
    document = await register(baseUrl, token);
    flights = tap.takeFlights().map(ofCalls).find(isTransaction) ?? [];
  }
  if (flights.length === 0) throw new Error("the recorded statements are not one transaction");
  return { flights, document, creations: CREATIONS };
}

/** Without what tells other processes of a commit, behind it: no call waits for that, and many share it. */
function ofCalls(flights) {
  return flights.filter((flight) => !flight.some(({ sql }) => sql.includes("pg_notify")));
}

function isTransaction(flights) {
  const statements = flights.flat();
  return statements.at(0)?.sql.startsWith("BEGIN") && statements.at(-1)?.sql === "COMMIT";
}
