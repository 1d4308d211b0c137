import type { Fields } from "./json/message-fields.js";
import type { JsonTree } from "./json/read-json.js";
import { createFieldReader, createMessageReader, type ReadRules } from "./json/read-message.js";
import type { RequestProfile } from "./request-profile.js";
import type { Route } from "./routes/routes.js";
import { updateMaskField, updateMaskFiller } from "./update-mask.js";
import type { Violations } from "./violations/collect-violations.js";

/** Reads the JSON of a body into the request message. */
export type ReadBody = (tree: JsonTree, request: Fields, violations: Violations) => void;

/**
 * Returns a function that reads a JSON body into the request message. Depending on the route, the body is one field of
 * the message, or the whole message without the fields of the path. Returns undefined for a route without a body.
 *
 * If the body of a PATCH is the whole message, the function also fills the update mask, see {@link updateMaskField}.
 */
export function createBodyReader(
  route: Route,
  { maxItems, registry }: Pick<ReadRules, "maxItems" | "registry">,
  profile: RequestProfile,
): ReadBody | undefined {
  const { method, body, variables, httpMethod } = route;
  if (body === "none") return undefined;
  const ofPath = variables.map(({ fields }) => fields);
  const rules = { profile: profile.json, registry, maxItems };
  if (body !== "message") {
    const inBody = ofPath.filter(([first]) => first === body).map((path) => path.slice(1));
    const fields = profile.pathWins ? { ignored: inBody } : { excluded: inBody };
    const { step, read } = createFieldReader(body, { ...rules, ...fields, partial: httpMethod === "PATCH" });
    return (tree, request, violations) => read(tree, request, { parent: undefined, step }, violations);
  }
  const mask = updateMaskField(route);
  const ofMask = mask === undefined || profile.takesUpdateMask ? [] : [[mask]];
  const fields = profile.pathWins ? { ignored: ofPath, excluded: ofMask } : { excluded: [...ofPath, ...ofMask] };
  const read = createMessageReader(method.input, { ...rules, ...fields });
  if (mask === undefined) return (tree, request, violations) => read(tree, request, undefined, violations);
  const candidates = method.input.fields.filter(
    (field) => field !== mask && !ofPath.some((path) => path.length === 1 && path[0] === field),
  );
  const fillUpdateMask = updateMaskFiller(mask, candidates, profile.json);
  return (tree, request, violations) => {
    read(tree, request, undefined, violations);
    fillUpdateMask(tree, request);
  };
}
