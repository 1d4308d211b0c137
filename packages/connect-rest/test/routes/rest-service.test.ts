import { expect, test } from "vitest";
import { restService } from "../../src/routes/rest-service.js";
import { LibraryService } from "../gen/library/v1/library_pb.js";
import { MediaService } from "../gen/library/v1/media_pb.js";

// `npm run check` compiles this file: a directive without an error below it would fail.
test("a method that the service does not have, or of another type, does not compile", () => {
  restService(LibraryService, { getBook: ({ name }) => ({ name }) });
  // @ts-expect-error The method is getBook.
  restService(LibraryService, { getBok: () => ({}) });
  // @ts-expect-error The answer is a Book.
  restService(LibraryService, { getBook: () => ({ titel: "x" }) });
  // @ts-expect-error A GetBookRequest has no such field.
  restService(LibraryService, { getBook: ({ title }) => ({ name: title }) });
  // @ts-expect-error The answers are a stream.
  restService(MediaService, { watchBooks: () => ({}) });
  // @ts-expect-error The method is of another service.
  restService(MediaService, { getBook: () => ({}) });
  expect(restService(LibraryService, {}).service).toBe(LibraryService);
});
