/**
 * A filter by ids: one id, or several without duplicates. If `one` is undefined and `several` is empty, every id
 * matches.
 */
export interface IdFilter {
  readonly one: string | undefined;
  readonly several: readonly string[];
}

/**
 * Returns the filter for a list of ids and the single id field of the same request. Converts the ids to lower case and
 * drops duplicates. If only one id is left, it is in `one`, because a query for one id can use an index better than a
 * query for a list.
 */
export function idFilter(ids: readonly string[], id?: string): IdFilter {
  const all = [...new Set([...ids, ...(id === undefined ? [] : [id])].map((each) => each.toLowerCase()))].toSorted();
  return all.length > 1 ? { one: undefined, several: all } : { one: all[0], several: [] };
}
