import { createReadStream, type ReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { create } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { listViolations } from "@cupo/connect-rest";
import { createMessageReader, fieldsOf, noViolations, parseJsonBody } from "@cupo/connect-rest/strict-json";
import { type Options, parse } from "csv-parse";
import { type ImportRow, ImportRowSchema } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import { isUuid, lowerCaseIds } from "../../interceptors/validation/lower-case-uuids.js";
import { messageValidatorOf } from "../../interceptors/validation/validate-message.js";
import { createRowValidation } from "../../services/imports/row-validation.js";
import { type ColumnMapping, jsonOfRecord, withMappedColumns } from "./column-mapping.js";
import type { SourceFile } from "./source-files.js";

/** An error in a row, in the form in which the service reports it. */
export interface RowError {
  readonly code: string;
  /** JSON path of the field in the row; empty for the whole row. */
  readonly field: string;
  readonly message: string;
}

/** A row of a file. A row with errors cannot be sent. */
export interface SourceRow {
  /** The line on which the row begins, from 1. */
  readonly line: number;
  /**
   * Bytes read from the file so far. The file is read in chunks, so this is only approximately the position of the row.
   */
  readonly bytesRead: number;
  readonly row: ImportRow;
  readonly errors: readonly RowError[];
}

/** The maximum depth of JSON that the service accepts. */
const MAX_DEPTH = 16;

/** The maximum number of bytes of rows in a request. The service accepts requests of up to 64 KiB. */
export const MOST_BYTES = 63 * 1024;

const read = createMessageReader(ImportRowSchema);
const validate = createRowValidation(messageValidatorOf);
const lowerCase = lowerCaseIds(ImportRowSchema, isUuid);

/**
 * Reads the rows of a file one by one. The file is never in memory as a whole. Empty lines are skipped. Rejects if the
 * file cannot be read or is not UTF-8. Also rejects if a CSV file is malformed, or does not have each column of its
 * mapping exactly once.
 */
export async function* readRows({ path, shownName, mapping }: SourceFile): AsyncGenerator<SourceRow> {
  const file = createReadStream(path);
  const text = Readable.from(textOf(file, shownName));
  const records = mapping === undefined ? linesOf(text) : recordsOf(text, mapping, shownName);
  for await (const { line, json } of records) {
    const parsed = json === undefined ? { row: create(ImportRowSchema), errors: [tooManyCells] } : parseRow(json);
    yield { line, bytesRead: file.bytesRead, ...parsed };
  }
}

interface Located {
  readonly line: number;
  /** The row as JSON; undefined for a CSV record with more cells than the header. */
  readonly json: string | undefined;
}

const tooManyCells: RowError = {
  code: "INVALID_FORMAT",
  field: "",
  message: "the row has more cells than the header: put a cell with a comma in quotation marks",
};

/** Decodes a file, without its byte order mark. Throws for bytes that are not UTF-8, because it must not replace them. */
async function* textOf(file: ReadStream, fileName: string): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (bytes?: Buffer) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (cause) {
      throw new Error(`${fileName} is not UTF-8: convert the file, and run the import again`, { cause });
    }
  };
  for await (const bytes of file) yield decode(bytes);
  yield decode();
}

async function* linesOf(text: Readable): AsyncGenerator<Located> {
  let line = 0;
  for await (const json of createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1;
    if (json.trim() !== "") yield { line, json };
  }
}

const CSV: Options = { skip_empty_lines: true, info: true, relax_column_count: true };

async function* recordsOf(text: Readable, mapping: ColumnMapping, fileName: string): AsyncGenerator<Located> {
  const parser = parse({ ...CSV, columns: (header: string[]) => withMappedColumns(header, mapping, fileName) });
  text.on("error", (error) => parser.destroy(error));
  let line = 2;
  for await (const { record, info } of text.pipe(parser)) {
    const cells: unknown = info.error?.["record"];
    const isLonger = Array.isArray(cells) && cells.length > Object.keys(record).length;
    yield { line, json: isLonger ? undefined : jsonOfRecord(mapping, record) };
    line = info.lines + 1;
  }
}

/**
 * Parses the JSON of a row. UUIDs become lower case, as in the service. Validates the row only if the JSON does not
 * fit its schema, or has more than {@link MOST_BYTES} bytes. A row that is too long for a request exceeds a limit of a
 * field.
 */
function parseRow(json: string): Pick<SourceRow, "row" | "errors"> {
  const row = create(ImportRowSchema);
  const violations = noViolations();
  const bytes = Buffer.from(json);
  try {
    read(parseJsonBody(bytes, MAX_DEPTH), fieldsOf(row), undefined, violations);
  } catch {
    return { row, errors: [{ code: "INVALID_FORMAT", field: "", message: "the line is not a JSON object" }] };
  }
  for (const change of lowerCase) change(reflect(ImportRowSchema, row));
  if (violations.items.length === 0 && bytes.length <= MOST_BYTES) return { row, errors: [] };
  return { row, errors: listViolations(ImportRowSchema, validate(row), violations.items) };
}
