/**
 * How many rows tables have, by name.
 *
 * @param {{ query: (sql: string) => Promise<any[]> }} database
 * @param {readonly string[]} tables
 * @returns {Promise<Map<string, number>>}
 */
export async function rowsOf(database, tables) {
  const counts = tables.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`);
  const [row] = await database.query(`SELECT ${counts.join(", ")}`);
  return new Map(tables.map((table) => [table, Number(row[table])]));
}
