import type { JsonObject } from "@bufbuild/protobuf";
import { listViolations } from "@cupo/connect-rest";
import { createMessageValidator } from "../../src/interceptors/validation/validate-message.js";
import { describeConnect } from "../../src/openapi/connect-document.js";
import { requestExamples } from "../../src/openapi/examples/request-examples.js";
import { describeRest } from "../../src/openapi/rest-document.js";
import { isPublished } from "../../src/operation.js";
import { servedServices } from "../../src/services/services.js";
import { testNow } from "./clock.js";

/** Base URL of the problem types in the documents below. A service under test uses its own address instead. */
export const PROBLEMS_URL = "https://problems.test";

/** Creates the documents of both listeners as the service does: `rest` and `connect`. */
export function openApiDocuments(): Readonly<Record<"rest" | "connect", JsonObject>> {
  const services = servedServices;
  const examples = requestExamples(testNow());
  const options = {
    services,
    examples,
    problemsUrl: PROBLEMS_URL,
    validate: createMessageValidator(),
    listErrors: listViolations,
  };
  const published = services.filter(({ service }) => isPublished(service));
  return { rest: describeRest({ ...options, services: published, basePath: "" }), connect: describeConnect(options) };
}
