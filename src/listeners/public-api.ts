import { listViolations } from "@cupo/connect-rest";
import type { CupoError } from "../errors.js";
import type { Chain } from "../interceptors/chain.js";
import type { MessageValidator } from "../interceptors/validation/validation.js";
import { documentPages } from "../openapi/document-pages.js";
import { CLINIC_BASE_PATH } from "../operation.js";
import { serveResources } from "../pages/serve-resources.js";
import { problemPages } from "../problems/problem-pages.js";
import { type DemoTokens, referencePages } from "../reference-page/reference-pages.js";
import type { HttpHandler, HttpRequest, HttpResponse } from "../request-log.js";
import type { ServiceEntry } from "../services/services.js";
import { clinicServices, publishedServices } from "./clinic-services.js";
import { type ProblemOptions, sendProblem } from "./problem-answers.js";
import { createRestApi } from "./rest-api.js";

/** The options of the public listener. */
export interface PublicApiOptions extends ProblemOptions {
  readonly basePath: string;
  readonly services: readonly ServiceEntry[];
  /** The clinic's own services to serve over REST: none, some, or ["all"]. */
  readonly publicClinicApi: readonly string[];
  readonly chain: Chain;
  readonly validate: MessageValidator;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  /** Issues tokens for the reference page. Undefined unless the development issuer is used. */
  readonly demoTokens?: DemoTokens | undefined;
}

/**
 * Creates the handler of the public listener. It serves the published operations over REST, the chosen operations of the
 * clinic, the OpenAPI document and reference page, and the pages of the problem types.
 */
export function createPublicApi(options: PublicApiOptions): HttpHandler {
  const published = publishedServices(options.services);
  const rest = createRestApi({ ...options, services: published, takesActor: false });
  const clinic = createRestApi({
    ...options,
    basePath: CLINIC_BASE_PATH,
    services: clinicServices(options.services, options.publicClinicApi),
    takesActor: true,
  });
  const refuse = (request: HttpRequest, response: HttpResponse, error: CupoError) =>
    sendProblem(request, response, error, options);
  const documents = documentPages({
    prefix: options.basePath,
    now: options.now,
    describe: async (nowMs) => {
      const { describeRest } = await import("../openapi/rest-document.js");
      const { requestExamples } = await import("../openapi/examples/request-examples.js");
      return describeRest({
        ...options,
        services: published,
        listErrors: listViolations,
        examples: requestExamples(nowMs),
      });
    },
  });
  const reference = referencePages({
    title: "Cupo",
    documentPath: `${options.basePath}/openapi.json`,
    demoTokens: options.demoTokens,
  });
  const pages = serveResources([...problemPages(options.services), ...documents, ...reference], refuse);
  return (request, response) => {
    if (!pages(request, response)) void rest(request, response, () => void clinic(request, response));
  };
}
