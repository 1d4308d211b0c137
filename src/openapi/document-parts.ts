import type { DescService, JsonObject } from "@bufbuild/protobuf";
import type { DocumentInfo } from "@cupo/connect-openapi";
import { operationOf } from "../operation.js";
import { packageVersion } from "../settings/package-version.js";

/** Returns the `info` object of a document. */
export function documentInfo(title: string, description: string): DocumentInfo {
  return {
    title,
    version: packageVersion(),
    description,
    contact: { name: "The maintainers of Cupo" },
    license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
  };
}

/** Returns the security requirement of an operation: an access token with this scope. */
export function security(scope: string): JsonObject[] {
  return [{ oauth2: [scope] }, { accessToken: [] }];
}

/**
 * Returns two security schemes for these RPC services. `oauth2` is an OAuth 2 access token. `accessToken` is the same
 * token, as an HTTP bearer token for tools without OAuth support. Only the issuer defines how to obtain a token, so
 * `oauth2` lists the scopes but no standard OpenAPI flow.
 */
export function securitySchemes(services: readonly DescService[]): JsonObject {
  const names = new Set(services.flatMap(({ methods }) => methods.map((method) => operationOf(method).scope)));
  const scopes = Object.fromEntries([...names].toSorted().map((name) => [name, operationsWith(name, services)]));
  return {
    oauth2: {
      type: "oauth2",
      description:
        "An access token (RFC 9068) from the trusted issuer. It identifies a service principal of one tenant and has the scope that the " +
        "operation requires. The operation reads and writes only data of that tenant.",
      flows: { "x-issuer": { description: "Ask the operator of the issuer.", scopes } },
    },
    accessToken: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "JWT",
      description: "The same access token, for tools without OAuth support.",
    },
  };
}

function operationsWith(scope: string, services: readonly DescService[]): string {
  const all = services.flatMap(({ methods }) => methods);
  return all
    .filter((method) => operationOf(method).scope === scope)
    .map(({ name }) => name)
    .join(", ");
}
