import { escapeLiteral } from "pg";
import { inject } from "vitest";
import { newId } from "../../src/uuid.js";
import type { TestService } from "./service.js";

/** Returns the conditions that select the rows of a fixture, by table. Referenced tables come first. */
export type RowsOf<T> = (made: T) => Readonly<Record<string, string>>;

/** Returns texts of a fixture, each with its replacement in a copy. */
export type ReplacementsOf<T> = (made: T) => Readonly<Record<string, string>>;

/** A fixture that the service created, and its rows by table. Without rows it cannot be copied. */
interface Template<T> {
  readonly made: T;
  /** The ids in the words of its request. */
  readonly ids: readonly string[];
  readonly rows: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> | undefined;
}

/** The fixtures of one service. */
interface Kept {
  /** Templates by their words without ids. Undefined after the first request with these words. */
  readonly templates: Map<string, Promise<Template<object>> | undefined>;
  /** Copies are made one after another; concurrent copies would each open a connection. */
  lastCopy: Promise<unknown>;
}

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

/** A table with one row per tenant, which all fixtures of the tenant share. */
const OF_TENANT = "calendars";

const known = new WeakMap<TestService, Kept>();

/**
 * Creates a fixture of JSON values. `words` describes it. The service creates the first two fixtures whose words differ
 * only in ids. Later ones are copies of the second one, as it was when created.
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
  const isAgain = kept.templates.has(pattern);
  const earlier = kept.templates.get(pattern);
  if (earlier !== undefined) {
    const template = (await earlier.catch(() => undefined)) as Template<T> | undefined;
    if (template?.rows === undefined) return make();
    return copy(
      service,
      kept,
      template.made,
      template.rows,
      rewriter(template.ids, ids, replacementsOf(template.made)),
    );
  }
  const template = isAgain ? make().then((made) => templateOf(service, made, ids, rowsOf(made))) : undefined;
  kept.templates.set(pattern, template);
  return template === undefined ? make() : (await template).made;
}

/** Reads the rows of a fixture. The template has no rows if one of the tables has none. */
async function templateOf<T extends object>(
  service: TestService,
  made: T,
  ids: readonly string[],
  conditions: Readonly<Record<string, string>>,
): Promise<Template<T>> {
  const columns = Object.entries(conditions).map(
    ([table, condition]) =>
      `(SELECT json_agg(t ORDER BY t) FROM (SELECT * FROM ${table} WHERE ${condition}) t) AS ${table}`,
  );
  const [rows = {}] = await service.query(`SELECT ${columns.join()}`);
  return { made, ids, rows: Object.values(rows).includes(null) ? undefined : (rows as Template<T>["rows"]) };
}

async function copy<T extends object>(
  service: TestService,
  kept: Kept,
  made: T,
  rows: NonNullable<Template<T>["rows"]>,
  { isGiven, rewrite }: Rewriter,
): Promise<T> {
  const statements = Object.entries(rows).map(([table, all]) => {
    const values = escapeLiteral(rewrite(all.filter(({ id }) => !isGiven(String(id)))));
    const unlessThere = table === OF_TENANT ? "ON CONFLICT DO NOTHING" : "";
    return `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, ${values}) ${unlessThere}`;
  });
  const copied = kept.lastCopy.then(() => service.query(statements.join(";")));
  kept.lastCopy = copied.catch(() => undefined);
  await copied;
  return JSON.parse(rewrite(made)) as T;
}

/** Serializes values as JSON, with the ids and texts of a copy. */
interface Rewriter {
  /** Whether this id was given in the words. Such a row is not copied, because the new words name another one. */
  readonly isGiven: (id: string) => boolean;
  readonly rewrite: (value: unknown) => string;
}

function rewriter(
  given: readonly string[],
  inTheirPlace: readonly string[],
  others: Readonly<Record<string, string>>,
): Rewriter {
  const places = new Map(given.map((id, index) => [id, inTheirPlace[index] ?? id]));
  const otherFor = (id: string) => {
    const other = places.get(id) ?? newId();
    places.set(id, other);
    return other;
  };
  const texts = Object.entries(others).map((pair) => pair.map((text) => JSON.stringify(text)));
  return {
    isGiven: (id) => given.includes(id),
    rewrite: (value) =>
      texts.reduce(
        (json, [text = "", other = ""]) => json.replaceAll(text, other),
        JSON.stringify(value).replace(UUID, otherFor),
      ),
  };
}
