import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  Book_Genre,
  BookSchema,
  type LibraryService,
  type ListBooksResponseSchema,
  UpdateBookRequestSchema,
} from "../gen/library/v1/library_pb.js";

/** Returns the request's values, so that tests see how a request was read. */
export const libraryService: Partial<ServiceImpl<typeof LibraryService>> = {
  getBook: ({ name }) => ({ name, title: "Found", genre: Book_Genre.NOVEL }),
  listBooks: ({ shelf, pageSize }): MessageInitShape<typeof ListBooksResponseSchema> => ({
    shelf,
    nextPageToken: String(pageSize ?? ""),
  }),
  createBook: ({ shelf, book }, context) => {
    context.responseHeader.set("location", `/v1/shelves/${shelf}/books/1`);
    return create(BookSchema, { title: book?.title ?? "", name: `shelves/${shelf}/books/1` });
  },
  updateBook: (request) => {
    const { updateMask, shelf, id, title = "" } = create(UpdateBookRequestSchema, request);
    return { name: `shelves/${shelf}/books/${id}`, title, tags: updateMask?.paths ?? [] };
  },
  renameBook: ({ book }) => book ?? {},
  archiveBook: () => ({}),
  deleteBook: () => ({}),
  readFile: ({ path }) => ({ path, content: new Uint8Array([1, 2]) }),
  echoKinds: (request) => request,
  queryKinds: (request) => request,
  probe: () => ({}),
};
