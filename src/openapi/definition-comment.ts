import type { DescEnum, DescEnumValue, DescField, DescMessage, DescMethod, DescService } from "@bufbuild/protobuf";
import { comments as accessComments } from "../gen/cupo/access/v1/comments.js";
import { comments as clinicComments } from "../gen/cupo/clinic/v1/comments.js";

const all = { ...accessComments, ...clinicComments };
const snakeCase = /\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b/g;

type Definition = DescService | DescMethod | DescMessage | DescField | DescEnum | DescEnumValue;

/**
 * What the proto says of a definition, as CommonMark: paragraphs, and lists where it has some. Fields that it names stand in
 * their JSON spelling. Throws where it says nothing, which `buf lint` lets no definition do.
 */
export function definitionComment(definition: Definition): string {
  const name = "typeName" in definition ? definition.typeName : `${definition.parent.typeName}.${definition.name}`;
  const comment = all[name];
  if (comment === undefined) throw new Error(`the proto says nothing of ${name}, or \`npm run generate\` is to be run`);
  return comment.replace(snakeCase, camelCase);
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
