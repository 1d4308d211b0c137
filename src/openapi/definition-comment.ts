import type { DescEnum, DescEnumValue, DescField, DescMessage, DescMethod, DescService } from "@bufbuild/protobuf";
import { comments as accessComments } from "../gen/cupo/access/v1/comments.js";
import { comments as clinicComments } from "../gen/cupo/clinic/v1/comments.js";

const all = { ...accessComments, ...clinicComments };
const snakeCase = /\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b/g;

type Definition = DescService | DescMethod | DescMessage | DescField | DescEnum | DescEnumValue;

/**
 * Returns the proto comment of a definition as CommonMark. Field names in it have their JSON spelling. Throws for a
 * definition without a comment, which `buf lint` forbids.
 */
export function definitionComment(definition: Definition): string {
  const name = "typeName" in definition ? definition.typeName : `${definition.parent.typeName}.${definition.name}`;
  const comment = all[name];
  if (comment === undefined)
    throw new Error(`${name} has no comment in its proto; add one and run \`npm run generate\``);
  return comment.replace(snakeCase, camelCase);
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
