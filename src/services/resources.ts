import type { FieldMask } from "@bufbuild/protobuf/wkt";
import type { ContextValues } from "@connectrpc/connect";
import { v7 as uuidv7 } from "uuid";
import { callOf, principalOf, transactionOf } from "../call.js";
import { notFound } from "../errors.js";
import {
  findVisibleIds,
  lockResourceRow,
  type ResourceTable,
  type Stored,
  sendInsert,
  sendUpdate,
} from "../postgres/resources.js";
import { requireFound } from "./preconditions.js";

/** Adds a resource at version 1 for the organization and company of the caller. */
export function createResource<A extends object>(
  values: ContextValues,
  table: ResourceTable<A>,
  attributes: A,
  nowMs: number,
): Stored<A> {
  const at = new Date(nowMs);
  const resource: Stored<A> = { ...attributes, id: uuidv7(), version: 1, createdAt: at, updatedAt: at };
  sendInsert(transactionOf(values), principalOf(values), table, resource);
  callOf(values).effects.push({ resourceType: table.type, resourceId: resource.id, action: "CREATE", version: 1 });
  return resource;
}

/** The resource that a request wants to update, locked until the call ends. 404 where the caller can see none. */
export async function lockResource<A extends object>(
  values: ContextValues,
  table: ResourceTable<A>,
  id: string,
): Promise<Stored<A>> {
  return requireFound(await lockResourceRow(transactionOf(values), principalOf(values), table, id));
}

/** Writes the changes to a locked resource; its version grows by one if they name an attribute, be it to the same value. */
export function saveResource<A extends object>(
  values: ContextValues,
  table: ResourceTable<A>,
  resource: Stored<A>,
  changes: Partial<A>,
  nowMs: number,
): Stored<A> {
  if (Object.keys(changes).length === 0) return resource;
  const head = { version: resource.version + 1, updatedAt: new Date(nowMs) };
  sendUpdate<A>(transactionOf(values), table, resource.id, { ...changes, ...head } as Partial<Stored<A>>);
  callOf(values).effects.push({
    resourceType: table.type,
    resourceId: resource.id,
    action: "UPDATE",
    version: head.version,
  });
  return { ...resource, ...changes, ...head };
}

/**
 * The attributes that the update mask of a request names, by their names in the message. The validation stage has put the
 * mask there, without the names of anything but attributes.
 */
export function maskedAttributes<R extends { readonly updateMask?: FieldMask | undefined }>(request: R): Partial<R> {
  const names = (request.updateMask?.paths ?? []).map((path) =>
    path.replaceAll(/_([a-z])/g, (_, c: string) => c.toUpperCase()),
  );
  return Object.fromEntries(names.map((name) => [name, Reflect.get(request, name)])) as Partial<R>;
}

/** Refuses references, by the JSON name of their field, to resources that the caller cannot see: 404 with every such field. */
export async function requireReferences(
  values: ContextValues,
  references: readonly {
    readonly field: string;
    readonly table: Pick<ResourceTable<object>, "name">;
    readonly id: string | undefined;
  }[],
): Promise<void> {
  const transaction = transactionOf(values);
  const checked = await Promise.all(
    references.map(async ({ field, table, id }) => {
      if (id === undefined) return [];
      const found = await findVisibleIds(transaction, principalOf(values), table, [id]);
      return found.has(id) ? [] : [{ code: "NOT_FOUND" as const, field, message: "no such resource exists" }];
    }),
  );
  const missing = checked.flat();
  if (missing.length > 0) throw notFound("A resource that the request refers to does not exist; see errors.", missing);
}
