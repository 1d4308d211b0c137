import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { ImportRowSchema } from "../../gen/cupo/clinic/v1/import_row_pb.js";

/** A column of a CSV file, and the field that it becomes. */
export interface MappedColumn {
  readonly column: string;
  readonly path: readonly string[];
  readonly field: DescField;
}

export type ColumnMapping = readonly MappedColumn[];

/** Separates the items of a list in a cell. */
const LIST_SEPARATOR = ";";

/**
 * Reads the mapping of a CSV file from the content of `mapping.json`, an object of the form `{"patients.csv":
 * {"column": "patient.fullName"}}`. Throws if the object has no columns for the file, or if a path is not a field of a
 * row.
 */
export function readMapping(mappings: unknown, fileName: string): ColumnMapping {
  const found: unknown = isObject(mappings) ? mappings[fileName] : undefined;
  if (!isObject(found)) throw new Error(`mapping.json has no columns for ${fileName}`);
  return Object.entries(found).map(([column, path]) => {
    const field = typeof path === "string" ? fieldAt(path) : undefined;
    if (typeof path !== "string" || field === undefined)
      throw new Error(
        `mapping.json, ${fileName}: the column ${column} must have the path of a field, such as patient.fullName`,
      );
    return { column, path: path.split("."), field };
  });
}

/**
 * Returns the header of a CSV file. Throws if it does not have each column of the mapping exactly once. Otherwise the
 * cells of that column would be lost, and a later import cannot add them.
 */
export function withMappedColumns(header: string[], mapping: ColumnMapping, fileName: string): string[] {
  for (const { column } of mapping) {
    const count = header.filter((name) => name === column).length;
    if (count === 1) continue;
    const has = count === 0 ? "no column" : `${count} columns`;
    throw new Error(`${fileName} has ${has} ${column}: correct the header or mapping.json`);
  }
  return header;
}

/** Converts the cells of a CSV record, by column, to the JSON of a row. Empty cells become absent fields. */
export function jsonOfRecord(mapping: ColumnMapping, cells: Readonly<Record<string, string>>): string {
  const row: Record<string, unknown> = {};
  for (const { column, path, field } of mapping) {
    const cell = cells[column] ?? "";
    if (cell !== "") put(row, path, valueOf(field, cell));
  }
  return JSON.stringify(row);
}

function put(row: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const last = path.at(-1) ?? "";
  let parent = row;
  for (const name of path.slice(0, -1)) {
    const child: Record<string, unknown> = isObject(parent[name]) ? parent[name] : {};
    parent[name] = child;
    parent = child;
  }
  parent[last] = value;
}

/**
 * Converts text to the JSON type of the field. Text that cannot be converted is kept, so that parsing the row reports
 * it.
 */
function valueOf(field: DescField, cell: string): unknown {
  if (field.fieldKind === "list") return cell.split(LIST_SEPARATOR).map((item) => item.trim());
  if (field.scalar === ScalarType.BOOL) return cell === "true" ? true : cell === "false" ? false : cell;
  if (field.scalar === ScalarType.INT32 && /^-?\d{1,9}$/.test(cell)) return Number(cell);
  return cell;
}

/**
 * Returns the field at a path of JSON names. Returns undefined if the path is unknown or leads to a message other than
 * a timestamp.
 */
function fieldAt(path: string): DescField | undefined {
  let schema: DescMessage | undefined = ImportRowSchema;
  let field: DescField | undefined;
  for (const name of path.split(".")) {
    field = schema?.fields.find(({ jsonName }) => jsonName === name);
    schema = field?.fieldKind === "message" ? field.message : undefined;
  }
  return schema === undefined || schema.typeName === TimestampSchema.typeName ? field : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
