import { listViolations } from "@cupo/connect-rest";
import type { CupoError } from "../errors.js";
import type { Chain } from "../interceptors/chain.js";
import type { MessageValidator } from "../interceptors/validation/validation.js";
import { dailyDocument, documentPages } from "../openapi/document-pages.js";
import { introduction } from "../openapi/introduction.js";
import { CLINIC_BASE_PATH } from "../operation.js";
import { type Resources, serveResources } from "../pages/serve-resources.js";
import { problemPages } from "../problems/problem-pages.js";
import { type DemoTokens, referencePages } from "../reference-page/reference-pages.js";
import type { HttpHandler, HttpRequest, HttpResponse } from "../request-log.js";
import type { ServiceEntry } from "../services/services.js";
import { publicClinicServices, publishedServices } from "./clinic-services.js";
import { type ProblemOptions, sendProblem } from "./problem-answers.js";
import { createRestApi } from "./rest-api.js";

/** The options of the public listener. */
export interface PublicApiOptions extends ProblemOptions {
  readonly basePath: string;
  readonly services: readonly ServiceEntry[];
  /** The names of the RPC services of `cupo.clinic.v1` to serve over REST, or ["all"]. */
  readonly publicClinicApi: readonly string[];
  readonly chain: Chain;
  readonly validate: MessageValidator;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * Signs demo tokens for the reference page. Undefined if an issuer is configured. Also undefined if the process does
   * not print {@link DemoTokens.key} on a terminal: the page needs this key to request a token.
   */
  readonly demoTokens?: DemoTokens | undefined;
}

/**
 * Creates the handler of the public listener. It serves:
 *
 * - the published operations over REST
 * - the operations of the RPC services in `publicClinicApi`, over REST
 * - the OpenAPI document and the reference page of these operations
 * - the pages of the problem types
 */
export function createPublicApi(options: PublicApiOptions): HttpHandler {
  const published = publishedServices(options.services);
  const rest = createRestApi({ ...options, services: published, takesActor: false });
  const ofClinic = publicClinicServices(options.services, options.publicClinicApi);
  const clinic = createRestApi({ ...options, basePath: CLINIC_BASE_PATH, services: ofClinic, takesActor: true });
  const refuse = (request: HttpRequest, response: HttpResponse, error: CupoError) =>
    sendProblem(request, response, error, options);
  const pages = serveResources(
    [...problemPages(options.services), ...documentation(options, published, ofClinic)],
    refuse,
  );
  return (request, response) => {
    if (!pages(request, response)) void rest(request, response, () => void clinic(request, response));
  };
}

/** Returns the OpenAPI document of the listener's operations, and the reference page. */
function documentation(
  options: PublicApiOptions,
  services: readonly ServiceEntry[],
  clinic: readonly ServiceEntry[],
): Resources {
  const { basePath, now, demoTokens } = options;
  const document = dailyDocument(now, async (nowMs) => {
    const { describePublic } = await import("../openapi/documents/public-document.js");
    const { requestExamples } = await import("../openapi/examples/request-examples.js");
    const examples = requestExamples(nowMs);
    return describePublic({ ...options, services, clinic, listErrors: listViolations, examples });
  });
  const reference = referencePages({ document, introduction, documentPath: `${basePath}/openapi.json`, demoTokens });
  return [...documentPages(basePath, document), ...reference];
}
