import { withService } from "./measured-service.mjs";
import { startPostgresTap } from "./postgres-tap.mjs";

/** Moves that are made one after the other with answers held back: the first ones prepare their statements. */
const SLOW_MOVES = 5;
const AT_ONCE = 8;
const CHANGE = /^update "appointments" /;

/**
 * Runs the service behind a recording proxy, has it make every move once, and gives what each took from BEGIN to COMMIT: a
 * list of statements for each round trip. What a move sends outside, such as the notification behind its COMMIT, is left
 * out: no call waits for that, and many share it. Rejects where there are not as many transactions as moves.
 *
 * How many statements travel together is learnt of a few moves and holds for all, since each sends as many.
 *
 * @param {{ dataDir: string, databaseUrl: string, signal: AbortSignal }} options
 * @param {readonly object[]} moves
 * @param {(service: { baseUrl: string, internalUrl: string }) => (move: object) => Promise<unknown>} open gives what makes a move
 * @returns {Promise<import("./postgres-tap.mjs").RecordedStatement[][][]>}
 */
export async function recordMoves(options, moves, open) {
  const slow = await record(options, moves.slice(0, SLOW_MOVES), open, { atOnce: 1 });
  const fast = await record(options, moves.slice(SLOW_MOVES), open, { atOnce: AT_ONCE, answerDelayMs: 0 });
  const lengths = slow.at(-1).map(({ length }) => length);
  return [...slow, ...fast].map((flights) => cut(flights.flat(), lengths));
}

/** The flights of each move; with no delay they say nothing but the order of the statements. */
async function record({ databaseUrl, ...options }, moves, open, { atOnce, ...delay }) {
  const tap = await startPostgresTap(databaseUrl, delay);
  try {
    await withService({ ...options, databaseUrl: tap.url }, async (service) => {
      const send = open(service);
      const waiting = moves.values();
      const work = async () => {
        for (const move of waiting) await send(move);
      };
      await Promise.all(Array.from({ length: atOnce }, work));
    });
    return onlyMoves(tap.takeFlights().flatMap(transactionsOf), moves.length);
  } finally {
    await tap.close();
  }
}

/** What one connection sent from each BEGIN to its COMMIT, in its flights, without what else travelled with them. */
function transactionsOf(flights) {
  const transactions = [];
  let open;
  for (const flight of flights) {
    open?.push([]);
    for (const statement of flight) {
      if (statement.sql === "BEGIN") open = [[]];
      open?.at(-1).push(statement);
      if (statement.sql === "COMMIT" && open !== undefined) transactions.push(open);
      if (statement.sql === "COMMIT") open = undefined;
    }
  }
  return transactions;
}

/** The service has transactions of its own in the background, which change no appointment. */
function onlyMoves(transactions, count) {
  const found = transactions.filter((flights) => flights.flat().some(({ sql }) => CHANGE.test(sql)));
  if (found.length === count) return found;
  throw new Error(
    `${count} moves were made, but ${found.length} transactions that change an appointment were recorded`,
  );
}

function cut(statements, lengths) {
  const flights = lengths.map((length, i) => {
    const start = lengths.slice(0, i).reduce((sum, before) => sum + before, 0);
    return statements.slice(start, start + length);
  });
  if (flights.flat().length === statements.length) return flights;
  throw new Error(`a move took ${statements.length} statements and not ${flights.flat().length}, as the first ones`);
}
