import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, onTestFinished, test } from "vitest";
import { openImportCalls } from "../../src/command-line/imports/import-calls.js";
import { batchesOf } from "../../src/command-line/imports/row-batches.js";
import type { SourceRow } from "../../src/command-line/imports/source-rows.js";
import { ImportRowSchema } from "../../src/gen/cupo/clinic/v1/import_row_pb.js";
import { ImportResourcesResponseSchema } from "../../src/gen/cupo/clinic/v1/import_service_pb.js";

test("a batch that is sent again keeps its key, and each batch has its own", async () => {
  const keys: unknown[] = [];
  const server = createServer(({ headers }, response) => {
    keys.push(headers["idempotency-key"]);
    if (keys.length === 1) {
      response.writeHead(503, { "content-type": "application/json" }).end(JSON.stringify({ code: "unavailable" }));
      return;
    }
    const answer = toBinary(ImportResourcesResponseSchema, create(ImportResourcesResponseSchema));
    response.writeHead(200, { "content-type": "application/proto" }).end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const calls = openImportCalls({ url, token: "t", sourceSystem: "his", validateOnly: false });
  await calls.send([]);
  await calls.send([]);
  expect(keys).toEqual([expect.any(String), keys[0], expect.any(String)]);
  expect(keys[2]).not.toBe(keys[0]);
});

describe("a batch has", () => {
  test("at most ten rows", async () => {
    expect(await sizesOf(Array.from({ length: 25 }, () => rowOf(10)))).toEqual([10, 10, 5]);
  });

  test("at most 63 KiB, counted anew for each batch", async () => {
    expect(await sizesOf(Array.from({ length: 5 }, () => rowOf(30 * 1_024)))).toEqual([2, 2, 1]);
  });

  test("rows with errors too, which are not sent and so take no bytes", async () => {
    const wrong = { ...rowOf(60 * 1_024), errors: [{ code: "TOO_LONG", field: "sourceId", message: "too long" }] };
    expect(await sizesOf([rowOf(60 * 1_024), wrong, wrong, rowOf(1_024)])).toEqual([4]);
  });
});

/** Returns a row whose id has this many characters. */
function rowOf(length: number): SourceRow {
  return { line: 1, bytesRead: 0, row: create(ImportRowSchema, { sourceId: "a".repeat(length) }), errors: [] };
}

async function sizesOf(rows: readonly SourceRow[]): Promise<number[]> {
  const sizes: number[] = [];
  for await (const batch of batchesOf(each(rows))) sizes.push(batch.length);
  return sizes;
}

async function* each(rows: readonly SourceRow[]): AsyncGenerator<SourceRow> {
  yield* rows;
}
