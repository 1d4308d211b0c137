import { toBinary } from "@bufbuild/protobuf";
import { ImportRowSchema } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import { MOST_BYTES, type SourceRow } from "./source-rows.js";

/**
 * The maximum number of rows in a batch. The service accepts up to 500 rows, but a batch of 500 rows would delay other
 * calls longer than a small batch does.
 */
const MOST_ROWS = 10;
/** The bytes that the request message needs for each row, in addition to the row itself. */
const ROW_OVERHEAD = 4;

/**
 * Groups rows into batches of at most {@link MOST_ROWS} rows and {@link MOST_BYTES} bytes. Rows with errors are part of
 * a batch but are not sent, so their bytes do not count.
 */
export async function* batchesOf(rows: AsyncIterable<SourceRow>): AsyncGenerator<readonly SourceRow[]> {
  let batch: SourceRow[] = [];
  let bytes = 0;
  for await (const row of rows) {
    const size = row.errors.length > 0 ? 0 : toBinary(ImportRowSchema, row.row).length + ROW_OVERHEAD;
    if (batch.length === MOST_ROWS || bytes + size > MOST_BYTES) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(row);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** Yields items in order. Requests the next item before the current one is yielded. */
export async function* ahead<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = items.next();
  for (;;) {
    const { done, value } = await next;
    if (done === true) return;
    next = items.next();
    next.catch(() => undefined);
    yield value;
  }
}
