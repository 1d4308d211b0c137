import { hash } from "node:crypto";
import type { DescMethod } from "@bufbuild/protobuf";
import { createRestHandler, type EntityTag, type EventIds } from "@cupo/connect-rest";
import { type NodeListener, nodeListener } from "@cupo/connect-rest/node";
import { callOf } from "../call.js";
import { EventService } from "../gen/cupo/clinic/v1/event_service_pb.js";
import { actor } from "../interceptors/actor.js";
import { answeringCalls } from "../interceptors/answering-calls.js";
import type { Chain } from "../interceptors/chain.js";
import { interceptorsFor } from "../interceptors/stage.js";
import { isOpaqueId } from "../interceptors/validation/opaque-ids.js";
import { maxItemsOf } from "../interceptors/validation/size-limits.js";
import type { MessageValidator } from "../interceptors/validation/validation.js";
import { callFor, valuesOf } from "../open-call.js";
import { hasEntityTag, operationOf } from "../operation.js";
import { asCupoError } from "../problems/problem.js";
import type { ServiceEntry } from "../services/services.js";
import { messageLimits, responseHeaders } from "./listener-constants.js";
import { type ProblemOptions, renderError } from "./problem-answers.js";

/** The options of operations over REST. */
export interface RestApiOptions extends ProblemOptions {
  /** Prefix of every path, such as "/api/external/v1". */
  readonly basePath: string;
  readonly services: readonly ServiceEntry[];
  readonly chain: Chain;
  readonly validate: MessageValidator;
  /**
   * Whether callers may send the header Actor-Id. False for the operations of `cupo.access.v1`, which have no such
   * header; true for those of `cupo.clinic.v1`, on every listener.
   */
  readonly takesActor: boolean;
}

/**
 * Empty headers, shared by all requests. Interceptors read the raw headers from the call, so no Headers object is built
 * for each request.
 */
const NO_HEADERS = new Headers();

/**
 * Returns the entity tag of an answer: a hash of the body. The version of the resource cannot be the tag: the version
 * stays the same when the answer changes, for example because of the caller's scopes or the name of another resource.
 */
const tagOfBytes: EntityTag = ({ body }) => `"${hash("sha256", body, "base64url")}"`;

/**
 * The settings for the event ids of the watchEvents stream (server-sent events). The id of an event is its cursor. A
 * client that reconnects sends the last id as Last-Event-ID and continues after this cursor. The request field `start`
 * then has no effect.
 */
const watchIds: EventIds = {
  responseField: "cursor",
  requestField: "cursor",
  removedFields: ["start"],
  retryMs: 2_000,
};

/**
 * Creates the handler that serves RPC services over REST, at the paths of their google.api.http options. If no
 * operation has the path of a request, the handler calls `next`, its optional third argument. Without `next`, it
 * answers 404.
 */
export function createRestApi(options: RestApiOptions): NodeListener {
  const { chain } = options;
  const rest = createRestHandler({
    basePath: options.basePath,
    services: options.services.map(answeringCalls),
    headerInterceptors: interceptorsFor(
      options.takesActor ? [...chain.onHeaders, { stage: actor() }] : chain.onHeaders,
    ),
    interceptors: interceptorsFor(chain.onMessage),
    successStatus: (method) => operationOf(method).successStatus,
    validate: options.validate,
    maxItems: maxItemsOf,
    takesAnyText: isOpaqueId,
    entityTag: (method) => (hasEntityTag(method) ? tagOfBytes : undefined),
    eventIds: (method: DescMethod) => (method === EventService.method.watchEvents ? watchIds : undefined),
    errors: (thrown, { values }) => renderError(asCupoError(thrown), callOf(values), options),
    requestHeader: () => NO_HEADERS,
    responseHeaders,
    ...messageLimits,
  });
  return nodeListener(rest, { contextValues: (request) => valuesOf(callFor(request)) });
}
