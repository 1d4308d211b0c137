import { isMessage, type MessageInitShape } from "@bufbuild/protobuf";
import type { Effect, ReadyCall } from "../../call.js";
import type { FieldError } from "../../errors.js";
import {
  type ImportReference,
  ImportReferenceSchema,
  type ImportRowValid,
} from "../../gen/cupo/clinic/v1/import_row_pb.js";
import { ImportOutcome_State, type ImportOutcomeSchema } from "../../gen/cupo/clinic/v1/import_service_pb.js";
import type { LockedSource } from "../../postgres/tables/imports/bulk-insert.js";
import {
  findImported,
  type ImportedResource,
  type ImportKind,
  insertImported,
} from "../../postgres/tables/imports/imported-resources.js";
import type { RowHashes } from "./row-hashes.js";

/** A valid row of the request, with its index in the request and its hashes. */
export interface BatchRow extends Pick<ImportedResource, "kind" | "key"> {
  readonly index: number;
  readonly row: ImportRowValid;
  readonly contentHash: string;
}

/** A row and the resource message that it contains. */
export interface RowOf<Resource> {
  readonly row: BatchRow;
  readonly value: Resource;
}

type Outcome = MessageInitShape<typeof ImportOutcomeSchema>;

/**
 * An import in progress. Stores the outcomes of its rows so far. Also stores the ids of the resources that were
 * imported from its rows, and from other rows that its rows reference.
 */
export class ImportBatch {
  readonly #outcomes: (Outcome | undefined)[];
  readonly #known = new Map<string, ImportedResource>();
  readonly #created: ImportedResource[] = [];

  constructor(
    readonly call: ReadyCall,
    readonly source: LockedSource,
    readonly nowMs: number,
    private readonly hashes: RowHashes,
    size: number,
  ) {
    this.#outcomes = Array.from({ length: size });
  }

  /**
   * Reads the resources that earlier imports created from these rows, and from the rows that these rows reference.
   * Afterwards {@link known} returns them.
   */
  async readKnown(rows: readonly BatchRow[]): Promise<void> {
    const referred = rows
      .flatMap(({ row }) => referencesOf(row))
      .flatMap(([kind, { sourceId }]) => (sourceId === undefined ? [] : [this.hashes.keyOf(kind, sourceId)]));
    const wanted = new Set([...rows.map(({ key }) => key), ...referred]);
    for (const resource of await findImported(this.call.transaction, this.source, [...wanted]))
      this.#known.set(resource.key, resource);
  }

  /**
   * Returns the resource of the row with this key, from this batch or an earlier one; undefined if there is none. Call
   * {@link readKnown} first.
   */
  known(key: string): ImportedResource | undefined {
    return this.#known.get(key);
  }

  /**
   * Returns the id of the resource to which a row refers; undefined if the resource was not imported. If the reference
   * has a `resourceId` instead of a `sourceId`, returns this id, and does not check that the resource exists.
   */
  resolve(kind: ImportKind, { sourceId, resourceId }: ImportReference): string | undefined {
    if (sourceId === undefined) return resourceId;
    return this.known(this.hashes.keyOf(kind, sourceId))?.resourceId;
  }

  /**
   * Records that this transaction created a resource from a row. Sets the outcome of the row to CREATED, keeps the
   * resource for {@link record}, and adds the {@link Effect} to the call.
   */
  accept(row: BatchRow, resourceId: string, effect: Omit<Effect, "resourceId" | "action">): void {
    const { kind, key, contentHash } = row;
    const resource = { kind, key, contentHash, resourceId };
    this.#known.set(key, resource);
    this.#created.push(resource);
    this.#outcomes[row.index] = { state: ImportOutcome_State.CREATED, resourceId };
    this.call.effects.push({ ...effect, resourceId, action: "CREATE" });
  }

  /** Records that a row was imported before and has not changed since. */
  keep({ index }: BatchRow, resourceId: string): void {
    this.#outcomes[index] = { state: ImportOutcome_State.UNCHANGED, resourceId };
  }

  /**
   * Records why a row is rejected. `resourceId` is the resource of an earlier import of the same row, if there was one.
   */
  reject({ index }: Pick<BatchRow, "index">, errors: readonly FieldError[], resourceId?: string): void {
    const known = resourceId === undefined ? {} : { resourceId };
    this.#outcomes[index] = { state: ImportOutcome_State.REJECTED, errors: [...errors], ...known };
  }

  /** Inserts a row into `imported_resources` for each resource that this batch created. */
  record(): void {
    if (this.#created.length > 0) insertImported(this.call.transaction, this.source, this.#created);
  }

  /** Returns the outcome of each row. Throws if a row has none. */
  outcomes(): Outcome[] {
    return this.#outcomes.map((outcome) => {
      if (outcome === undefined) throw new Error("a row of an import has no outcome");
      return outcome;
    });
  }
}

/** Maps each row field of the type ImportReference to the kind of resource to which it refers. */
const kindByField = {
  patient: "PATIENT",
  practitioner: "PRACTITIONER",
  service: "SERVICE",
  location: "LOCATION",
  payer: "PAYER",
} as const satisfies Readonly<Record<string, ImportKind>>;

function referencesOf({ resource }: ImportRowValid): (readonly [ImportKind, ImportReference])[] {
  const values = new Map<string, unknown>(Object.entries({ ...resource.value }));
  return Object.entries(kindByField).flatMap(([field, kind]) => {
    const value = values.get(field);
    return isMessage(value, ImportReferenceSchema) ? [[kind, value] as const] : [];
  });
}
