import { TENANT_ID } from "./registration.mjs";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const HASH_BYTES = 32;
const UUID_HEX_KEPT = 14;
const HASH_HEX_KEPT = 48;

/**
 * Makes pgbench scripts of a recorded transaction, which differ only in how they share round trips: all of it in one,
 * as the service sends it, or one statement after the other. Their values have the widths of the recorded ones and are as
 * new in each transaction as those are: document numbers and hashes random, ids ascending for each connection as UUIDs
 * of version 7 ascend. pgbench can send no new text but numbers, so ids and hashes are put together in the statement,
 * which costs the server about a microsecond each.
 *
 * A script takes the variable `run`, 1 to 99, different for every run on the same tables. `constants` are the variables
 * that are the same for all. `tables` are those in which a transaction adds a row.
 *
 * @param {{ flights: import("./postgres-tap.mjs").RecordedStatement[][], document: string }} recorded
 */
export function createPgbenchScripts({ flights, document }) {
  const constants = new Map();
  const flightsOfSql = flights.map((flight) => flight.flatMap((statement) => toSql(statement, document, constants)));
  const statements = flightsOfSql.flat();
  const begin = flightsOfSql[0].slice(0, flights[0][0].sql.split("; ").length);
  const rest = statements.slice(begin.length);
  return {
    scripts: {
      pipelined: script([statements]),
      asService: script(flightsOfSql),
      sequential: script([begin, ...rest.map((statement) => [statement])]),
    },
    constants: new Map(Array.from(constants, ([text, name]) => [name, text])),
    tables: statements.flatMap((sql) => /^(?:with "\w+" as \()?insert into "(\w+)"/.exec(sql)?.[1] ?? []),
  };
}

/** Statements that were sent as one text become several here, because only the simple protocol takes them as one. */
function toSql({ sql, values }, document, constants) {
  const text = sql.replaceAll(/\$(\d+)/g, (_, number) => placeholder(values[Number(number) - 1], document, constants));
  return values.length === 0 ? text.split("; ") : [text];
}

function placeholder(value, document, constants) {
  if (value === null) return "NULL";
  if (value === document) return ":document";
  if (typeof value === "string" && UUID.test(value) && value !== TENANT_ID) {
    return `('${value.replaceAll("-", "").slice(0, UUID_HEX_KEPT)}' || :id)::uuid`;
  }
  if (typeof value !== "string" && value.length === HASH_BYTES) {
    return `('\\x' || :hash || '${value.toString("hex").slice(-HASH_HEX_KEPT)}')::bytea`;
  }
  const text = typeof value === "string" ? value : `\\x${value.toString("hex")}`;
  if (!constants.has(text)) constants.set(text, `constant_${constants.size + 1}`);
  return `:${constants.get(text)}`;
}

/** A flight of one statement needs no pipeline, and costs less without. */
function script(flights) {
  return [
    "\\set count :count + 1",
    "\\set id 100000000000000000 + :run * 1000000000000000 + :client_id * 10000000000000 + :count",
    "\\set hash random(1000000000000000, 9999999999999999)",
    "\\set document random(300000000000000, 999999999999999)",
    ...flights.flatMap((flight) => {
      const lines = flight.map((sql) => `${sql};`);
      return lines.length === 1 ? lines : ["\\startpipeline", ...lines, "\\endpipeline"];
    }),
    "",
  ].join("\n");
}
