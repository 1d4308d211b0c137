import type { ConnectRouter } from "@connectrpc/connect";
import { LibraryService } from "../gen/library/v1/library_service_pb.js";
import { LoanService } from "../gen/library/v1/loan_service_pb.js";

/** Registers both services of the library, which answer with the title that was asked for. */
export function library(router: ConnectRouter): void {
  router.service(LibraryService, {
    getBook: ({ title }) => ({ title }),
    async *listBooks() {
      yield { title: "One" };
    },
  });
  router.service(LoanService, {
    lendBook: ({ title, reader }) => ({ title, place: { case: "reader", value: reader } }),
  });
}
