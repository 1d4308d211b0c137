import type { FieldMask } from "@bufbuild/protobuf/wkt";
import type { Effect, Owner, ReadyCall } from "../../call.js";
import { type FieldError, unknownReferences } from "../../errors.js";
import {
  findResource,
  findVisibleIds,
  insertResource,
  lockResourceRow,
  type Referrer,
  type ResourceRecord,
  type ResourceTable,
  listResources as readResources,
  updateResource,
} from "../../postgres/tables/resources/resources.js";
import { idAfter } from "./page-keys.js";
import { cutPage, type PageRequest, readPage } from "./pages.js";
import { missing, requireFound } from "./preconditions.js";

/**
 * Inserts and returns a resource of the caller's organization and company, with version 1. Adds an {@link Effect}.
 */
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

/** Returns a resource. Throws 404 on `field` if it does not exist or the caller may not see it. */
export async function getResource<A extends object>(
  call: ReadyCall,
  table: ResourceTable<A>,
  id: string,
  field = idFieldOf(table),
): Promise<ResourceRecord<A>> {
  return foundIn(await findResource(call.transaction, call.principal, table, id), table, field);
}

/** The attributes that listed resources must have. An absent or undefined attribute may have any value. */
export type Filter<A extends object> = { readonly [K in keyof A]?: A[K] | undefined };

/**
 * Returns one page of the resources that the caller may see and that match the filter, ordered by id. Spread `next`
 * into the response. Throws 422 if the page token is from another list or filter.
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

/**
 * Locks a resource until the transaction ends and returns it. Throws 404 on `field` if it does not exist or the caller
 * may not see it.
 */
export async function lockResource<A extends object>(
  call: ReadyCall,
  table: ResourceTable<A>,
  id: string,
  field = idFieldOf(table),
): Promise<ResourceRecord<A>> {
  return foundIn(await lockResourceRow(call.transaction, call.principal, table, id), table, field);
}

function foundIn<T>(resource: T | undefined, { type }: Pick<ResourceTable<object>, "type">, field: string): T {
  return requireFound(resource, field, type.replaceAll(/\B[A-Z]/g, " $&").toLowerCase());
}

/** The default name of the id field in requests, such as `payerId`. */
function idFieldOf({ type }: Pick<ResourceTable<object>, "type">): string {
  return `${type.charAt(0).toLowerCase()}${type.slice(1)}Id`;
}

/**
 * Locks a resource and returns it. In the same round trip, checks the new references of the resource. Throws 404 if the
 * resource does not exist ({@link lockResource}), then if a reference cannot be used ({@link requireReferences}).
 */
export async function lockReferring<A extends object>(
  call: ReadyCall,
  table: ResourceTable<A>,
  id: string,
  references: readonly Reference[],
  field = idFieldOf(table),
): Promise<ResourceRecord<A>> {
  const [resource, absent] = await Promise.all([
    lockResource(call, table, id, field),
    missingReferences(call, references, { table, id }),
  ]);
  refuseMissing(absent);
  return resource;
}

/**
 * Writes the changes to a locked resource, adds the {@link Effect} to the call and returns the result. The version
 * increments if `changes` has an attribute, even with the same value. Without attributes, does nothing and returns the
 * resource unchanged.
 */
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

/**
 * Returns the organization and company that own a resource. An {@link Effect} on the resource, or on a part of it such
 * as a rule of a program, contains this owner.
 */
export function ownerOf({ organizationId, companyId }: Owner): Owner {
  return { organizationId, companyId };
}

/** Fields of update requests that are not attributes. `Id` of {@link Changes} names a further field. */
type NotAttributes = "$typeName" | "$unknown" | "id" | "expectedVersion" | "updateMask";

/** The attributes that an update request sets. Attributes outside its update mask are absent. */
export type Changes<R, Id extends keyof R = never> = {
  readonly [K in keyof R as K extends NotAttributes | Id ? never : K]?: Exclude<R[K], undefined>;
};

/**
 * Returns the attributes in the update mask of a request, by their names in the message. An attribute to remove is
 * undefined. The validation interceptor has set the mask, which contains only attributes. `_id` is the name of the id
 * field of the request; it is used only for the return type.
 */
export function changesOf<R extends { readonly updateMask?: FieldMask | undefined }, Id extends keyof R = never>(
  request: R,
  _id?: Id,
): Changes<R, Id> {
  const names = (request.updateMask?.paths ?? []).map(localName);
  return Object.fromEntries(names.map((name) => [name, Reflect.get(request, name)])) as Changes<R, Id>;
}

/** A request field that refers to a resource. `id` is undefined if the field is absent. */
export interface Reference {
  /** JSON path of the field. */
  readonly field: string;
  readonly table: Pick<ResourceTable<object>, "name">;
  readonly id: string | undefined;
}

/**
 * Requires that the caller may see each referenced resource. If `referrer` is an existing resource, everybody who may
 * see it must also be allowed to see the referenced resources. Otherwise throws 404 with an item for each field that
 * fails. Sends one statement per table.
 */
export async function requireReferences(
  call: ReadyCall,
  references: readonly Reference[],
  referrer?: Referrer,
): Promise<void> {
  refuseMissing(await missingReferences(call, references, referrer));
}

/** Throws 404 with these items; does nothing without items. */
export function refuseMissing(items: readonly FieldError[]): void {
  if (items.length > 0) throw unknownReferences(items);
}

/** Returns an error item for each reference that {@link requireReferences} rejects. */
async function missingReferences(
  call: ReadyCall,
  references: readonly Reference[],
  referrer?: Referrer,
): Promise<readonly FieldError[]> {
  const tables = new Map(references.map(({ table }) => [table.name, table]));
  const found = new Map<string, Promise<ReadonlySet<string>>>();
  for (const [name, table] of tables) {
    const own = references.filter((reference) => reference.table.name === name);
    const ids = own.map(({ id }) => id).filter((id) => id !== undefined);
    found.set(name, findVisibleIds(call.transaction, call.principal, table, ids, referrer));
  }
  const isThere = await Promise.all(
    references.map(async ({ table, id }) => id === undefined || (await found.get(table.name))?.has(id) === true),
  );
  return references.filter((_, i) => isThere[i] === false).map(({ field }) => missing(field));
}

function localName(path: string): string {
  return path.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
