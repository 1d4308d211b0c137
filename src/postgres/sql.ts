import knex from "knex";

/**
 * Knex as the builder of statements. It has no connection: a transaction compiles what is built here and sends it itself,
 * which is what lets statements share round trips.
 */
export const sql = knex({ client: "pg" });
