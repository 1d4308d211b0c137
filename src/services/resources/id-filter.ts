/** A filter by ids: one id, or several without duplicates. Undefined and empty mean no restriction. */
export interface IdFilter {
  readonly one: string | undefined;
  readonly several: readonly string[];
}

/**
 * Returns the filter for a list of ids and the single id field of the same request. An index serves one id better than
 * a list of one.
 */
export function idFilter(ids: readonly string[], id?: string): IdFilter {
  const all = [...new Set([...ids, ...(id === undefined ? [] : [id])].map((each) => each.toLowerCase()))].toSorted();
  return all.length > 1 ? { one: undefined, several: all } : { one: all[0], several: [] };
}
