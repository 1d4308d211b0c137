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
 * drops duplicates. One distinct id is in `one`, because an index serves one id better than a list.
 */
export function idFilter(ids: readonly string[], id?: string): IdFilter {
  const all = [...new Set([...ids, ...(id === undefined ? [] : [id])].map((each) => each.toLowerCase()))].toSorted();
  return all.length > 1 ? { one: undefined, several: all } : { one: all[0], several: [] };
}
