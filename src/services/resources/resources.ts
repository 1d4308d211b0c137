import type { FieldMask } from "@bufbuild/protobuf/wkt";
import type { Effect, Owner, ReadyCall } from "../../call.js";
import { type FieldError, notFound } from "../../errors.js";
import {
  findResource,
  findVisibleIds,
  type Holder,
  insertResource,
  lockResourceRow,
  type ResourceRecord,
  type ResourceTable,
  listResources as readResources,
  updateResource,
} from "../../postgres/tables/resources/resources.js";
import { idAfter } from "./page-keys.js";
import { cutPage, type PageRequest, readPage } from "./pages.js";
import { requireFound } from "./preconditions.js";

/** Adds a resource at version 1 for the organization and company of the caller. */
export function createResource<A extends object>(
  call: ReadyCall,
  table: ResourceTable<A>,
  attributes: A,
  nowMs: number,
): ResourceRecord<A> {
  const at = new Date(nowMs);
  const { organizationId, companyId } = call.principal;
  const head = { id: call.newId(), organizationId, companyId, version: 1, createdAt: at, updatedAt: at };
  const resource: ResourceRecord<A> = { ...attributes, ...head };
  insertResource(call.transaction, table, resource);
  noteEffect(call, table, resource, "CREATE");
  return resource;
}

/** The resource that a request asks for, as it is now. 404 where the caller can see none. */
export async function getResource<A extends object>(
  call: ReadyCall,
  table: ResourceTable<A>,
  id: string,
): Promise<ResourceRecord<A>> {
  return requireFound(await findResource(call.transaction, call.principal, table, id));
}

/** What the resources of a list must have; an attribute that is absent or undefined may be anything. */
export type Filter<A extends object> = { readonly [K in keyof A]?: A[K] | undefined };

/**
 * The page that a request asks for, by id, of the resources that the caller can see and the filter lets through, and
 * `next`, to be spread into the response. 422 for a page token of another list or another filter.
 */
export async function listResources<A extends object>(
  call: ReadyCall,
  table: ResourceTable<A>,
  request: PageRequest,
  filter: Filter<A>,
): Promise<ReturnType<typeof cutPage<ResourceRecord<A>>>> {
  const wanted = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as Partial<A>;
  const page = readPage(request, table.type, [wanted]);
  const rows = await readResources(call.transaction, call.principal, table, {
    afterId: idAfter(page),
    limit: page.size + 1,
    filter: wanted,
  });
  return cutPage(rows, page, ({ id }) => [id], table.type, [wanted]);
}

/** The resource that a request wants to update, locked until the call ends. 404 where the caller can see none. */
export async function lockResource<A extends object>(
  call: ReadyCall,
  table: ResourceTable<A>,
  id: string,
): Promise<ResourceRecord<A>> {
  return requireFound(await lockResourceRow(call.transaction, call.principal, table, id));
}

/**
 * {@link lockResource} of a resource that is to refer to others, which are looked at on the same way: 404 for itself, then for
 * references as {@link requireReferences} refuses them.
 */
export async function lockReferring<A extends object>(
  call: ReadyCall,
  table: ResourceTable<A>,
  id: string,
  references: readonly Reference[],
): Promise<ResourceRecord<A>> {
  const [resource, missing] = await Promise.all([
    lockResource(call, table, id),
    missingReferences(call, references, { table, id }),
  ]);
  refuseMissing(missing);
  return resource;
}

/** Writes the changes to a locked resource; its version grows by one if they name an attribute, be it to the same value. */
export function saveResource<A extends object>(
  call: ReadyCall,
  table: ResourceTable<A>,
  resource: ResourceRecord<A>,
  changes: Partial<A>,
  nowMs: number,
): ResourceRecord<A> {
  if (Object.keys(changes).length === 0) return resource;
  const head = { version: resource.version + 1, updatedAt: new Date(nowMs) };
  updateResource<A>(call.transaction, table, resource.id, { ...changes, ...head } as Partial<ResourceRecord<A>>);
  const saved = { ...resource, ...changes, ...head };
  noteEffect(call, table, saved, "UPDATE");
  return saved;
}

function noteEffect<A extends object>(
  call: ReadyCall,
  table: ResourceTable<A>,
  resource: ResourceRecord<A>,
  action: Effect["action"],
): void {
  const { id: resourceId, version } = resource;
  call.effects.push({ resourceType: table.type, resourceId, action, version, ownedBy: ownerOf(resource) });
}

/** The organization and company of a resource, for the effects on it and on what is part of it. */
export function ownerOf({ organizationId, companyId }: Owner): Owner {
  return { organizationId, companyId };
}

/** What is in every update request beside attributes and, in most, an id of another name. */
type NotAttributes = "$typeName" | "$unknown" | "id" | "expectedVersion" | "updateMask";

/** The attributes of an update request, without its id; those that are not to change are absent. */
export type Changes<R, Id extends keyof R = never> = {
  readonly [K in keyof R as K extends NotAttributes | Id ? never : K]?: Exclude<R[K], undefined>;
};

/**
 * The attributes that the update mask of a request names, by their names in the message. The validation stage has put the
 * mask there, naming nothing but attributes, each with a value, or removable. `_id` is where the request has its id.
 */
export function changesOf<R extends { readonly updateMask?: FieldMask | undefined }, Id extends keyof R = never>(
  request: R,
  _id?: Id,
): Changes<R, Id> {
  const names = (request.updateMask?.paths ?? []).map(localName);
  return Object.fromEntries(names.map((name) => [name, Reflect.get(request, name)])) as Changes<R, Id>;
}

/** A field of a request that refers to a resource; one without an id refers to nothing. */
export interface Reference {
  /** JSON path of the field. */
  readonly field: string;
  readonly table: Pick<ResourceTable<object>, "name">;
  readonly id: string | undefined;
}

/**
 * Refuses references to resources that the caller cannot see, or not everybody who sees the holder of the references where
 * that is there already: 404 with every such field. One statement for each table.
 */
export async function requireReferences(
  call: ReadyCall,
  references: readonly Reference[],
  holder?: Holder,
): Promise<void> {
  refuseMissing(await missingReferences(call, references, holder));
}

/** Refuses a request with these missing references, if there is one: for callers that look for other things meanwhile. */
export function refuseMissing(missing: readonly FieldError[]): void {
  if (missing.length > 0) throw notFound("A resource that the request refers to does not exist; see errors.", missing);
}

/** An item for each reference that {@link requireReferences} refuses. */
export async function missingReferences(
  call: ReadyCall,
  references: readonly Reference[],
  holder?: Holder,
): Promise<readonly FieldError[]> {
  const tables = new Map(references.map(({ table }) => [table.name, table]));
  const found = new Map<string, Promise<ReadonlySet<string>>>();
  for (const [name, table] of tables) {
    const ids = references.flatMap(({ table: { name: other }, id }) =>
      other === name && id !== undefined ? [id] : [],
    );
    found.set(name, findVisibleIds(call.transaction, call.principal, table, ids, holder));
  }
  const isThere = await Promise.all(
    references.map(async ({ table, id }) => id === undefined || (await found.get(table.name))?.has(id) === true),
  );
  return references
    .filter((_, i) => isThere[i] === false)
    .map(({ field }) => ({ code: "NOT_FOUND", field, message: "no such resource exists" }));
}

function localName(path: string): string {
  return path.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
