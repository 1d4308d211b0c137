import type { JsonObject } from "@bufbuild/protobuf";
import { listViolations } from "@cupo/connect-rest";
import { messageValidatorOf } from "../../src/interceptors/validation/validate-message.js";
import { documentInfo } from "../../src/openapi/document-parts.js";
import { describeInternal } from "../../src/openapi/documents/internal-document.js";
import { describeRest } from "../../src/openapi/documents/rest-document.js";
import { describeServices } from "../../src/openapi/documents/service-document.js";
import { requestExamples } from "../../src/openapi/examples/request-examples.js";
import { isPublished } from "../../src/operation.js";
import { servedServices } from "../../src/services/services.js";
import { testNow } from "./clock.js";

/** Base URL of the problem types in the documents below. A service under test uses its own address instead. */
export const PROBLEMS_URL = "https://problems.test";

/** The names of the documents with which tests compare exchanges. */
export type DocumentName = "rest" | "internal" | "connect";

/**
 * Creates the documents of both listeners as the service does, `rest` and `internal`, and one of all operations over Connect,
 * which no listener serves.
 */
export function openApiDocuments(): Readonly<Record<DocumentName, JsonObject>> {
  const services = servedServices;
  const examples = requestExamples(testNow());
  const options = {
    services,
    examples,
    problemsUrl: PROBLEMS_URL,
    validate: messageValidatorOf,
    listErrors: listViolations,
  };
  const published = services.filter(({ service }) => isPublished(service));
  const info = documentInfo("Every operation over Connect", "");
  const connect = services.map(({ service }) => service);
  return {
    rest: describeRest({ ...options, services: published, basePath: "" }),
    internal: describeInternal(options),
    connect: describeServices({ ...options, info, servers: [], rest: [], connect, isConnectBeside: false }),
  };
}
