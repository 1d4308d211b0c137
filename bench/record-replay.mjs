import { openCallers } from "./callers.mjs";
import { signToken } from "./measured-service.mjs";
import { inClone, movesIn } from "./moves-in-clones.mjs";
import { RESCHEDULE } from "./prepare-moves.mjs";
import { recordMoves } from "./record-moves.mjs";
import { createReplayScripts } from "./replay-scripts.mjs";

/**
 * Has the service make all moves in a clone and gives what it takes to make them again by pgbench and to see that they were made:
 * the scripts and the constants of {@link createReplayScripts}, whose other values the table `bench_moves` has from here on, in
 * the clones to come too; the `tables` in which a move adds rows; and what is `made` there by all moves.
 *
 * @param {Awaited<ReturnType<typeof import("./bench-database.mjs").openBenchDatabase>>} database
 * @param {readonly { message: object, key: string }[]} moves
 * @param {AbortSignal} signal
 */
export async function recordReplay(database, moves, signal) {
  const { dataDir } = database;
  const token = await signToken(dataDir, signal);
  const open = (service) => {
    const { REST } = openCallers(service, token);
    return ({ message, key }) => REST(RESCHEDULE, message, key);
  };
  const recorded = await inClone(database, async (clone) => {
    const transactions = await recordMoves({ dataDir, databaseUrl: clone.url, signal }, moves, open);
    const tables = tablesOf(transactions[0].flat());
    return { transactions, tables, made: await movesIn(clone, database, tables) };
  });
  const { transactions, ...rest } = recorded;
  if (rest.made.moved !== moves.length) throw new Error(`of ${moves.length} moves ${rest.made.moved} were recorded`);
  const { columns, rows, ...replay } = createReplayScripts(transactions);
  await keepRows(database, columns, rows);
  return { ...replay, ...rest };
}

function tablesOf(statements) {
  const inserts = statements.flatMap(({ sql }) =>
    Array.from(sql.matchAll(/\binsert into "(\w+)"/g), ([, table]) => table),
  );
  return [...new Set(inserts)];
}

async function keepRows(database, columns, rows) {
  const records = rows.map((row, i) => ({ n: i + 1, ...Object.fromEntries(row.map((cell, c) => [columns[c], cell])) }));
  await database.query(
    `CREATE TABLE bench_moves (n integer PRIMARY KEY, ${columns.map((name) => `${name} text`).join()})`,
  );
  await database.query("GRANT SELECT ON bench_moves TO PUBLIC");
  const insert = "INSERT INTO bench_moves SELECT * FROM json_populate_recordset(NULL::bench_moves, $1)";
  await database.query(insert, [JSON.stringify(records)]);
  await database.query("VACUUM (ANALYZE)");
}
