import type { DescService, JsonObject } from "@bufbuild/protobuf";
import { operationOf } from "../operation.js";
import { packageVersion } from "../settings/package-version.js";
import { definitionComment } from "./definition-comment.js";

/** The version of OpenAPI that the documents are written in. */
export const OPENAPI_VERSION = "3.1.1";

/** What a document says of itself. */
export function documentInfo(title: string, description: string): JsonObject {
  return {
    title,
    version: packageVersion(),
    description,
    contact: { name: "The maintainers of Cupo" },
    license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
  };
}

/** A tag for each service, with what its proto says of it. */
export function serviceTags(services: readonly DescService[]): JsonObject[] {
  return services.map((service) => ({ name: service.name, description: definitionComment(service) }));
}

/** What an operation requires of its caller: an access token with this scope. */
export function security(scope: string): JsonObject[] {
  return [{ oauth2: [scope] }, { accessToken: [] }];
}

/**
 * How callers prove who they are: by an access token of OAuth 2, of which tools that know no OAuth take the text. Where
 * tokens are to be had is the issuer's affair, so the first has no flow that OpenAPI knows, only the scopes of these services.
 */
export function securitySchemes(services: readonly DescService[]): JsonObject {
  const names = new Set(services.flatMap(({ methods }) => methods.map((method) => operationOf(method).scope)));
  const scopes = Object.fromEntries([...names].toSorted().map((name) => [name, operationsWith(name, services)]));
  return {
    oauth2: {
      type: "oauth2",
      description:
        "An access token (RFC 9068) of the issuer that the service trusts, for a service principal of one tenant, with the scope that the " +
        "operation requires. All that is read and written belongs to that tenant.",
      flows: { "x-issuer": { description: "Ask the operator of the issuer.", scopes } },
    },
    accessToken: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "JWT",
      description: "The same access token, for tools that take it as it is.",
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
