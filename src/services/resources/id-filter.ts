/** A filter by ids: one id, or several without duplicates. Undefined and empty mean no restriction. */
export interface IdFilter {
  readonly one: string | undefined;
  readonly several: readonly string[];
}

/** Returns the filter of a list and of the single field beside it. An index serves one id better than a list of one. */
export function idFilter(ids: readonly string[], id?: string): IdFilter {
  const all = [...new Set([...ids, ...(id === undefined ? [] : [id])].map((each) => each.toLowerCase()))].toSorted();
  return all.length > 1 ? { one: undefined, several: all } : { one: all[0], several: [] };
}
