export type { Components } from "./components.js";
export { connectRoutes } from "./connect-routes.js";
export { openApiDocument } from "./document.js";
export { type ConnectErrorDetails, connectErrorSchema, connectErrors } from "./errors/connect-errors.js";
export type { DescribeErrors, ErrorDescriptions } from "./errors/describe-errors.js";
export { googleRpcStatusErrors } from "./errors/google-rpc-status-errors.js";
export { problemErrors } from "./errors/problem-errors.js";
export type {
  DocumentInfo,
  OpenApiOptions,
  OperationDefaults,
  OperationParts,
  RequestExample,
} from "./options.js";
export type { OpenApiRoute, RouteSegment, RouteVariable } from "./route.js";
export type { UntranslatedRule } from "./rules/translation.js";
export {
  type Definition,
  type Direction,
  definitionName,
  type Refer,
  type SchemaOptions,
} from "./schemas/schema-options.js";
export { sourceComments } from "./source-comments.js";
