import { type Definition, definitionName } from "@cupo/connect-openapi";
import { comments as accessComments } from "../gen/cupo/access/v1/comments.js";
import { comments as clinicComments } from "../gen/cupo/clinic/v1/comments.js";

const all = { ...accessComments, ...clinicComments };

/** Returns the proto comment of a definition. Throws if the definition has no comment. `buf lint` requires comments. */
export function definitionComment(definition: Definition): string {
  const name = definitionName(definition);
  const comment = all[name];
  if (comment === undefined)
    throw new Error(`${name} has no comment in its proto; add one and run \`npm run generate\``);
  return comment;
}
