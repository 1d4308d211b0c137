import { escapeLiteral } from "pg";
import { inject } from "vitest";
import { newId } from "../../src/uuid.js";
import type { TestService } from "./service.js";

/** Returns the conditions that select the rows of a fixture, by table. Referenced tables come first. */
export type RowsOf<T> = (made: T) => Readonly<Record<string, string>>;

/** Returns texts of a fixture, each with its replacement in a copy. */
export type ReplacementsOf<T> = (made: T) => Readonly<Record<string, string>>;

/** A fixture that the service created. */
interface Template<T> {
  readonly made: T;
  /** The ids in the words of its request. */
  readonly ids: readonly string[];
  /**
   * The rows of each table as a JSON array, except rows with one of `ids`. Undefined if a table has no rows or is
   * missing in an older release; then the fixture cannot be copied.
   */
  readonly rows: Readonly<Record<string, string>> | undefined;
}

/** The fixtures of one service. */
interface Kept {
  /** Templates by their words without ids. */
  readonly templates: Map<string, Promise<Template<object>>>;
  /** Copies are made one after another; concurrent copies would each open a connection. */
  lastCopy: Promise<unknown>;
}

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

/** A table with one row per tenant, which all fixtures of the tenant share. */
const OF_TENANT = "calendars";

const known = new WeakMap<TestService, Kept>();

/**
 * Creates a fixture of JSON values. `words` describes it. The service creates the first of the fixtures whose words
 * differ only in ids. Later ones are copies of the first one, as it was when created.
 * - A copy costs one statement instead of several calls and leaves no audit trail.
 * - It has the ids of its own words, the texts of `replacementsOf`, and new ids for all others, also within codes.
 * - On Citus the service creates every fixture, because Citus cannot run the copy as one statement.
 */
export async function createFromTemplate<T extends object>(
  service: TestService,
  words: string,
  rowsOf: RowsOf<T>,
  make: () => Promise<T>,
  replacementsOf: ReplacementsOf<T> = () => ({}),
): Promise<T> {
  if (inject("testServer").workerUrls.length > 0) return make();
  const kept = known.get(service) ?? { templates: new Map(), lastCopy: Promise.resolve() };
  known.set(service, kept);
  const ids = [...new Set(words.match(UUID))];
  const pattern = words.replace(UUID, (id) => `#${ids.indexOf(id)}`);
  const earlier = kept.templates.get(pattern);
  if (earlier === undefined) {
    const template = make().then((made) => templateOf(service, made, ids, rowsOf(made)));
    kept.templates.set(pattern, template);
    return (await template).made;
  }
  const template = (await earlier.catch(() => undefined)) as Template<T> | undefined;
  if (template?.rows === undefined) return make();
  const rewrite = rewriter(template.ids, ids, replacementsOf(template.made));
  return copy(service, kept, template.made, template.rows, rewrite);
}

/** Reads the rows of a fixture. */
async function templateOf<T extends object>(
  service: TestService,
  made: T,
  ids: readonly string[],
  conditions: Readonly<Record<string, string>>,
): Promise<Template<T>> {
  const given = `ARRAY[${ids.map(escapeLiteral).join()}]::text[]`;
  const columns = Object.entries(conditions).map(
    ([table, condition]) =>
      `(SELECT coalesce(json_agg(t ORDER BY t) FILTER (WHERE to_jsonb(t)->>'id' = ANY(${given}) IS NOT TRUE), '[]')::text
        FROM (SELECT * FROM ${table} WHERE ${condition}) t HAVING count(*) > 0) AS ${table}`,
  );
  const [rows] = await service.query(`SELECT ${columns.join()}`).catch(() => []);
  const isComplete = rows !== undefined && !Object.values(rows).includes(null);
  return { made, ids, rows: isComplete ? (rows as Template<T>["rows"]) : undefined };
}

async function copy<T extends object>(
  service: TestService,
  kept: Kept,
  made: T,
  rows: NonNullable<Template<T>["rows"]>,
  rewrite: (json: string) => string,
): Promise<T> {
  const statements = Object.entries(rows).map(([table, json]) => {
    const values = escapeLiteral(rewrite(json));
    const unlessThere = table === OF_TENANT ? "ON CONFLICT DO NOTHING" : "";
    return `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, ${values}) ${unlessThere}`;
  });
  const copied = kept.lastCopy.then(() => service.query(statements.join(";")));
  kept.lastCopy = copied.catch(() => undefined);
  await copied;
  return JSON.parse(rewrite(JSON.stringify(made))) as T;
}

/** Returns a function that replaces the ids and texts of a template in JSON by those of a copy. */
function rewriter(
  given: readonly string[],
  inTheirPlace: readonly string[],
  others: Readonly<Record<string, string>>,
): (json: string) => string {
  const places = new Map(given.map((id, index) => [id, inTheirPlace[index] ?? id]));
  const otherFor = (id: string) => {
    const other = places.get(id) ?? newId();
    places.set(id, other);
    return other;
  };
  const texts = Object.entries(others).map((pair) => pair.map((text) => JSON.stringify(text)));
  return (json) =>
    texts.reduce((all, [text = "", other = ""]) => all.replaceAll(text, other), json.replace(UUID, otherFor));
}
