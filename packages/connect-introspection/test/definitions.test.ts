import { create, createFileRegistry, type DescFile, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { indexDefinitions } from "../src/definitions.js";
import { LibraryService } from "./gen/library/v1/library_service_pb.js";
import { LoanService } from "./gen/library/v1/loan_service_pb.js";

test("a file that two packages bring is published once, as the first one has it", () => {
  const copy = copyOf(LoanService.file).getService(LoanService.typeName);
  if (copy === undefined) throw new Error("there is no copy");
  expect(copy.file.dependencies[0]).not.toBe(LoanService.file.dependencies[0]);
  const { files, symbols, withImports } = indexDefinitions([LibraryService, copy]);
  const names = withImports(copy.file).map(({ proto }) => proto.name);
  expect(names).toEqual([...new Set(names)]);
  const book = files.get("library/v1/book.proto");
  expect(book).toBe(LoanService.file.dependencies[0]);
  expect(withImports(copy.file)).toContain(book);
  expect(symbols.get("library.v1.Book")).toBe(book);
});

test("the descriptor of a file is serialized once", () => {
  const { bytesOf } = indexDefinitions([LoanService]);
  const bytes = bytesOf(LoanService.file);
  expect(bytesOf(LoanService.file)).toBe(bytes);
  expect(fromBinary(FileDescriptorProtoSchema, bytes)).toEqual(LoanService.file.proto);
});

/** Returns a second copy of a file and its imports, as another package would have it. */
function copyOf(file: DescFile) {
  const files = new Set<DescFile>();
  const put = (each: DescFile) => {
    for (const imported of each.dependencies) put(imported);
    files.add(each);
  };
  put(file);
  const set = create(FileDescriptorSetSchema, { file: [...files].map(({ proto }) => proto) });
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, toBinary(FileDescriptorSetSchema, set)));
}
