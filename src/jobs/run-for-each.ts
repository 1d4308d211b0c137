/**
 * Calls `work` for each item in turn. If it fails for one item, continues with the next one, so that the data of one
 * tenant cannot stop the work of all others. Throws the first error at the end. After the signal is aborted, calls
 * `work` for no further item.
 */
export async function runForEach<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) {
    if (signal?.aborted === true) break;
    await work(item).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}
