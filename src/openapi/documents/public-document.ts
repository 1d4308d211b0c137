import type { DescService, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { documentInfo, securitySchemes } from "../document-parts.js";
import { introduction } from "../introduction.js";
import { describeRest, PUBLIC_DESCRIPTION, type RestDocumentOptions } from "./rest-document.js";
import { describeServices } from "./service-document.js";

/** The input of the OpenAPI document of the public listener. */
export interface PublicDocumentOptions extends RestDocumentOptions {
  /** The RPC services of `cupo.clinic.v1` that the listener serves over REST, below `/api/clinic/v1`. */
  readonly clinic: readonly { readonly service: DescService }[];
  /**
   * The URL of the listener, to which the paths that start with `/api/clinic/v1` are relative. Defaults to the origin
   * from which the document is served.
   */
  readonly rootUrl?: string;
}

/**
 * Returns the OpenAPI document of the public listener. It has the published operations, whose paths are relative to
 * `serverUrl`. Then it has the operations of `cupo.clinic.v1`, whose paths start with `/api/clinic/v1` and are relative
 * to `rootUrl`.
 */
export function describePublic({ clinic, rootUrl = "/", ...options }: PublicDocumentOptions): JsonObject {
  const published = describeRest(options);
  if (clinic.length === 0) return published;
  const [rest, publishedOverRest] = [clinic, options.services].map((each) => each.map(({ service }) => service));
  const added = describeServices({
    ...options,
    info: documentInfo("Cupo", `${PUBLIC_DESCRIPTION}\n\n${introduction}`),
    servers: [{ url: rootUrl, description: "The public listener" }],
    rest: rest ?? [],
    connect: [],
    publishedOverRest: publishedOverRest ?? [],
    isConnectBeside: false,
  });
  const schemes = securitySchemes([...(publishedOverRest ?? []), ...(rest ?? [])]);
  return merged(published, added, schemes);
}

function merged(published: JsonObject, added: JsonObject, schemes: JsonObject): JsonObject {
  const paths = Object.entries(objectOf(added["paths"])).map(([path, item]) => [
    path,
    { servers: added["servers"] ?? [], ...objectOf(item) },
  ]);
  return {
    ...published,
    info: added["info"] ?? {},
    tags: [listOf(published["tags"]), listOf(added["tags"])].flat(),
    paths: { ...objectOf(published["paths"]), ...Object.fromEntries(paths) },
    components: {
      ...mergedComponents(objectOf(published["components"]), objectOf(added["components"])),
      securitySchemes: schemes,
    },
  };
}

/**
 * Returns the components of both documents. Throws if two components of the same kind and name differ, because a
 * reference to one could then mean the other. Security schemes may differ. Of two security schemes with the same name,
 * the result contains the scheme of `added`.
 */
function mergedComponents(published: JsonObject, added: JsonObject): JsonObject {
  const kinds = Object.keys({ ...published, ...added });
  const all = kinds.map((kind) => {
    const [own, other] = [objectOf(published[kind]), objectOf(added[kind])];
    for (const [name, component] of Object.entries(other)) {
      const isSame = !Object.hasOwn(own, name) || JSON.stringify(own[name]) === JSON.stringify(component);
      if (!isSame && kind !== "securitySchemes") throw new Error(`two ${kind} of the OpenAPI document are ${name}`);
    }
    return [kind, { ...own, ...other }] as const;
  });
  return Object.fromEntries(all);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}
