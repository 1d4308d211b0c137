const TURN = "\\set n (:count * :clients + :client_id) % :moves + 1\n\\set count :count + 1";
const SETTING = /^(?:BEGIN$|SET LOCAL )/;

/**
 * Makes pgbench scripts that do recorded transactions again, each once and with the values that it had. Those that differ
 * between transactions are looked up first, by the number of the transaction, in a table: `columns` are its columns and `rows`
 * its rows, in the order of the transactions. Those that all have in common are variables, in `constants`.
 *
 * The scripts differ in how they share round trips: `asService` has those that were recorded, `sequential` one for each
 * statement, but the settings travel with BEGIN. `lookUp` looks up and does nothing. Transactions may send their statements in
 * several orders; there is a branch for each. Throws where they do not send the same ones.
 *
 * A script takes the variables `moves`, how many there are, `clients`, and `count`, which is 0: the clients take turns in the
 * order of the rows.
 *
 * @param {import("./postgres-tap.mjs").RecordedStatement[][][]} transactions the flights of each
 */
export function createReplayScripts(transactions) {
  const { placeholders, constants, columns } = tabulate(transactions.map(parametersOf));
  const orders = new Map(transactions.map((flights) => [orderOf(flights), toSql(flights, placeholders)]));
  const places = [...orders.keys()];
  columns.set(
    "branch",
    transactions.map((flights) => String(places.indexOf(orderOf(flights)))),
  );
  const names = [...columns.keys()];
  const lookUp = [TURN, `SELECT ${names.join(", ")} FROM bench_moves WHERE n = :n \\gset`];
  const branches = [...orders.values()];
  return {
    scripts: {
      asService: script(lookUp, branches),
      sequential: script(lookUp, branches.map(oneByOne)),
      lookUp: script(lookUp, []),
    },
    constants,
    columns: names,
    rows: transactions.map((_, i) => names.map((name) => columns.get(name)[i])),
  };
}

/** The values of a transaction, each by the text of its statement, which time that was sent, and its place there. */
function parametersOf(flights) {
  return new Map(
    named(flights.flat()).flatMap(({ name, values }) => values.map((value, i) => [`${name} $${i + 1}`, value])),
  );
}

function named(statements) {
  const times = new Map();
  return statements.map(({ sql, values }) => {
    times.set(sql, (times.get(sql) ?? 0) + 1);
    return { name: `${sql} #${times.get(sql)}`, sql, values };
  });
}

/** What to write for each parameter, which is one variable for those that are alike in every transaction. */
function tabulate(transactions) {
  const [names, ...others] = transactions.map((parameters) =>
    JSON.stringify(Array.from(parameters.keys(), String).toSorted()),
  );
  if (others.some((other) => other !== names)) throw new Error("the transactions do not have the same statements");
  const variables = { placeholders: new Map(), constants: new Map(), columns: new Map() };
  const known = new Map();
  for (const name of transactions[0].keys()) {
    const cells = transactions.map((parameters) => textOf(parameters.get(name)));
    const content = JSON.stringify(cells);
    if (!known.has(content)) known.set(content, addVariable(cells, name, variables));
    variables.placeholders.set(name, known.get(content));
  }
  return variables;
}

function addVariable(cells, name, { constants, columns }) {
  const isConstant = cells.every((cell) => cell === cells[0]);
  if (isConstant && cells[0] === null) return "NULL";
  if (cells.includes(null)) throw new Error(`pgbench has no variable for what is NULL at times: ${name}`);
  const variable = isConstant ? `constant_${constants.size + 1}` : `v${columns.size + 1}`;
  if (isConstant) constants.set(variable, cells[0]);
  else columns.set(variable, cells);
  return `:${variable}`;
}

function textOf(value) {
  return Buffer.isBuffer(value) ? `\\x${value.toString("hex")}` : value;
}

function orderOf(flights) {
  return JSON.stringify(flights.map((flight) => flight.map(({ sql }) => sql)));
}

function toSql(flights, placeholders) {
  const statements = named(flights.flat()).map(({ name, sql }) =>
    sql.replaceAll(/\$(\d+)/g, (parameter) => placeholders.get(`${name} ${parameter}`)),
  );
  return flights.map(({ length }) => statements.splice(0, length));
}

function oneByOne(flights) {
  const statements = flights.flat();
  const first = statements.findIndex((sql) => !SETTING.test(sql));
  return [statements.slice(0, first), ...statements.slice(first).map((sql) => [sql])];
}

function script(lookUp, branches) {
  const lines = branches.flatMap((flights, i) => [
    `\\${i === 0 ? "if" : "elif"} :branch = ${i}`,
    ...flights.flatMap(toPipeline),
  ]);
  return [...lookUp, ...lines, ...(branches.length > 0 ? ["\\endif"] : []), ""].join("\n");
}

/** A flight of one statement needs no pipeline, and costs less without. */
function toPipeline(flight) {
  const lines = flight.map((sql) => `${sql};`);
  return lines.length === 1 ? lines : ["\\startpipeline", ...lines, "\\endpipeline"];
}
