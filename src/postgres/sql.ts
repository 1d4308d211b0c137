import knex from "knex";

/**
 * Knex as a query builder without a connection. A transaction compiles the statements and sends them itself, so that
 * they can share round trips.
 */
export const sql = knex({ client: "pg" });
